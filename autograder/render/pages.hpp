// The data of the two pages, for their templates.
#pragma once

#include <vector>

#include "manifest/manifest.hpp"
#include "render/page.hpp"
#include "render/report.hpp"

namespace gradlab::render {

Data index_page(const std::vector<Record>& records, const Manifest& manifest,
                const ReportOptions& options);
Data student_page(const Record& record, bool show_output);

}  // namespace gradlab::render
