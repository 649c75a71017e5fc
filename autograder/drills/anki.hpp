// Questions as cards in Anki's text import, maths as its MathJax.
// SOURCE: docs.ankiweb.net/importing/text-files.html: a header of #key:value lines, then one note a
// line. The first column is the note's own id, so that a second import updates and doubles nothing.
#pragma once

#include <string>
#include <vector>

#include "drills/question.hpp"

namespace gradlab::drills {

std::string anki_text(const std::vector<Question>& questions);

}  // namespace gradlab::drills
