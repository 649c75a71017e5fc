#include "drills/session.hpp"

#include <fmt/format.h>

#include "drills/check.hpp"
#include "drills/text.hpp"
#include "drills/typed.hpp"

namespace gradlab::drills {
namespace {

using Result = Checked::Result;

class Asking {
 public:
  Asking(const Round& round, const Talk& talk, const Graded& graded)
      : round_(round), talk_(talk), graded_(graded), paint_(talk.colour) {}

  Tally all() {
    for (const auto& question : round_.questions) tally_.topics[question.topic].of++;
    for (std::size_t i = 0; i < round_.questions.size() && !tally_.left; ++i) {
      pose(round_.questions[i], i + 1);
      answered(round_.questions[i]);
    }
    return tally_;
  }

 private:
  enum class Key { kAnswer, kHint, kSkip, kQuit };

  void line(const std::string& text) { talk_.say(text + "\n"); }

  void paragraph(const std::string& text, const std::string& indent = "  ") {
    if (text.empty()) return;
    const int width = talk_.width - static_cast<int>(indent.size());
    for (const auto& each : render::wrapped(plain_text(text), width)) line(indent + each);
  }

  void pose(const Question& question, std::size_t number) {
    line("");
    line(paint_.strong(
             fmt::format("{} of {}   {}", number, round_.questions.size(), question.topic)) +
         paint_.dim(fmt::format("   {}", word_of(question.kind))));
    paragraph(question.text);
    const auto numbered = question.kind == Kind::kBug;
    for (std::size_t i = 0; i < question.code.size(); ++i) {
      const auto prefix = numbered ? fmt::format("  {:>3}  ", i + 1) : std::string("      ");
      line(prefix + question.code[i]);
    }
    list_items(question);
    line(paint_.dim(fmt::format("  ({})", form_of(question))));
  }

  void list_items(const Question& question) {
    std::vector<std::string> items;
    if (const auto* order = std::get_if<Order>(&question.answer)) items = order->items;
    if (const auto* choices = std::get_if<Choices>(&question.answer);
        choices != nullptr && choices->listed) {
      for (const auto& option : choices->options) items.push_back(option.text);
    }
    if (!items.empty() && !question.code.empty()) line("");
    for (std::size_t i = 0; i < items.size(); ++i) {
      const auto lines = render::wrapped(plain_text(items[i]), talk_.width - 7);
      for (std::size_t k = 0; k < lines.size(); ++k) {
        line((k == 0 ? fmt::format("  {:>3}  ", i + 1) : "       ") + lines[k]);
      }
    }
  }

  // Reads until something is typed that is an answer, a skip or a quit.
  void answered(const Question& question) {
    bool hinted = false;
    for (;;) {
      std::string typed;
      switch (read(typed)) {
        case Key::kQuit:
          tally_.left = true;
          return;
        case Key::kSkip:
          ++tally_.skipped;
          if (!round_.exam) tell_answer(question, "skipped");
          return;
        case Key::kHint:
          hint(question, hinted);
          hinted = hinted || !question.hint.empty();
          continue;
        case Key::kAnswer:
          break;
      }
      if (std::holds_alternative<OwnWords>(question.answer)) {
        own_words(question, hinted);
        return;
      }
      const auto checked = check(question, typed);
      if (checked.result == Result::kNoAnswer) {
        paragraph(checked.told + (round_.exam ? " s skips." : " ? gives a hint, s skips."));
        continue;
      }
      grade(question, checked, hinted);
      return;
    }
  }

  std::optional<std::string> prompt() {
    talk_.say("> ");
    auto typed = talk_.read();
    if (!typed || talk_.echo) line(typed ? render::printable(*typed) : "");
    return typed;
  }

  Key read(std::string& typed) {
    const auto line_read = prompt();
    if (!line_read) return Key::kQuit;
    typed = *line_read;
    const auto word = plain_word(typed);
    if (word == "q" || word == "quit") return Key::kQuit;
    if (word == "s" || word == "skip") return Key::kSkip;
    if (word.empty() || word == "?") return Key::kHint;
    return Key::kAnswer;
  }

  void hint(const Question& question, bool hinted) {
    if (round_.exam) {
      paragraph("An exam has no hints. s skips, q ends it.");
    } else if (question.hint.empty()) {
      paragraph(fmt::format("No hint for this one. s skips it; read {}.", question.read));
    } else if (hinted) {
      paragraph(question.hint + " (That is the only hint; s skips.)");
    } else {
      paragraph(question.hint);
    }
  }

  void grade(const Question& question, const Checked& checked, bool hinted) {
    ++tally_.asked;
    const bool right = checked.result == Result::kRight;
    note(question, right, checked.mistake);
    const int wrong = checked.mistake.empty() ? kOtherMistake : kKnownMistake;
    graded_(question, right ? (hinted ? kWithHint : kAtOnce) : wrong, checked.mistake);
    if (round_.exam) return;
    if (right) {
      line("  " + paint_.good("right") + fmt::format("   {}", answer_of(question)));
      paragraph(question.why);
      return;
    }
    if (!checked.mistake.empty()) {
      paragraph(fmt::format("That answer {}.", checked.mistake));
    }
    tell_answer(question, "wrong");
  }

  void note(const Question& question, bool right, const std::string& mistake) {
    if (right) {
      ++tally_.right;
      ++tally_.topics[question.topic].right;
    } else {
      tally_.mistakes.push_back(fmt::format("{}: {}{}the answer is {}", question.name, mistake,
                                            mistake.empty() ? "" : "; ", answer_of(question)));
    }
  }

  void tell_answer(const Question& question, const char* word) {
    if (std::holds_alternative<OwnWords>(question.answer)) {
      line("  " + paint_.bad(word) + "   a model answer:");
      paragraph(answer_of(question), "    ");
    } else {
      line("  " + paint_.bad(word) + fmt::format("   the answer is {}", answer_of(question)));
    }
    paragraph(question.why);
    line(paint_.dim(fmt::format("  read: {}", question.read)));
  }

  void own_words(const Question& question, bool hinted) {
    paragraph("A model answer:");
    paragraph(answer_of(question), "    ");
    for (;;) {
      line("  Did yours say the same? y yes, p partly, n no");
      const auto typed = prompt();
      const auto word = typed ? plain_word(*typed) : "q";
      if (word == "q" || word == "s") {
        tally_.left = word == "q";
        ++tally_.skipped;
        return;
      }
      const bool yes = word == "y" || word == "yes", partly = word == "p" || word == "partly";
      if (!yes && !partly && word != "n" && word != "no") continue;
      ++tally_.asked;
      note(question, yes || partly, "");
      graded_(question,
              yes      ? (hinted ? kWithHint : kAtOnce)
              : partly ? kPartly
                       : kOtherMistake,
              "");
      return;
    }
  }

  const Round& round_;
  const Talk& talk_;
  const Graded& graded_;
  render::Paint paint_;
  Tally tally_;
};

}  // namespace

Tally ask(const Round& round, const Talk& talk, const Graded& graded) {
  return Asking(round, talk, graded).all();
}

}  // namespace gradlab::drills
