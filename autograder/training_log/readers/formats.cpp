#include "training_log/readers/readers.hpp"

namespace gradlab::training_log {

const char* name_of(Format format) {
  switch (format) {
    case Format::kGradlab:
      return "gradlab-log-1";
    case Format::kOrmasDiary:
      return "ormas diary";
    case Format::kOrmasMetrics:
      return "ormas metrics";
    case Format::kJsonLines:
      return "JSON lines";
    case Format::kTrainerState:
      return "Hugging Face trainer_state.json";
    case Format::kPythonDict:
      return "Hugging Face Trainer output";
    case Format::kCsv:
      return "CSV (as Lightning's)";
    case Format::kDeepSpeed:
      return "DeepSpeed";
    case Format::kMegatron:
      return "Megatron-LM";
    case Format::kFairseq:
      return "fairseq";
    case Format::kNanoGpt:
      return "nanoGPT";
    case Format::kApex:
      return "apex";
    case Format::kSwin:
      return "Swin/timm";
    case Format::kMmEngine:
      return "MMEngine/mmcv";
    case Format::kKeyValue:
      return "key=value";
  }
  return "";
}

bool logs_scale_after(Format format) {
  return format == Format::kMegatron || format == Format::kSwin || format == Format::kFairseq;
}

std::span<const LineReader> line_readers() {
  static constexpr LineReader kReaders[] = {
      read_overflow, read_json_line, read_python_dict, read_deepspeed, read_megatron,
      read_fairseq,  read_nanogpt,   read_swin,        read_mmengine,  read_key_value};
  return kReaders;
}

}  // namespace gradlab::training_log
