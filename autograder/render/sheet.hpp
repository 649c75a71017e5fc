// The lines of `check`: their width, and the columns of verdict, points and time.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "record/record.hpp"
#include "render/terminal.hpp"

namespace gradlab::render {

class Sheet {
 public:
  // The columns are the same for all rows of `record`. Less than 60 cells are taken as 60.
  Sheet(const Record& record, int width, bool colour);

  struct Row {
    std::string left;             // cut at a word where it would run into the columns
    std::string label;            // stands in the blanks that `left` begins with
    std::string painted_label;    // the same in colour
    std::optional<Verdict> word;  // the verdict's, in its column
    std::string points;           // made by points() or earned()
    std::string time;
  };
  static constexpr int kLabelAt = 6;
  static constexpr int kTextAt = 12;  // of a check's title, behind its label

  // "of" stands in one column whatever the numbers: " 7 of 13", " 6 of 6 ".
  std::string points(int earned, int most) const;
  std::string earned(int points) const;

  void row(const Row& row);
  void line(std::string text);  // as it is; blanks at its end are dropped
  void wrap(int indent, std::string_view text, int hanging = 0);

  const Paint& paint() const { return paint_; }
  int width() const { return width_; }
  std::string take() { return std::move(out_); }

 private:
  std::string painted(Verdict verdict) const;

  int width_;
  int number_;  // digits of the most points
  Paint paint_;
  std::string out_;
};

}  // namespace gradlab::render
