#include "db/function_name.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace pitwall {
namespace {

std::string without(std::string text, std::string_view part) {
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at))
    text.erase(at, part.size());
  return text;
}

// Where the list in angle brackets that ends the text begins; npos: it ends in none.
std::size_t beginOfArguments(std::string_view text) {
  if (text.empty() || text.back() != '>') return std::string_view::npos;
  int depth = 0;
  for (std::size_t i = text.size(); i-- > 0;) {
    depth += text[i] == '>' ? 1 : text[i] == '<' ? -1 : 0;
    if (depth == 0) return i;
  }
  return std::string_view::npos;
}

// Where the parameters begin; npos: there are none.
std::size_t beginOfParameters(std::string_view text) {
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    depth += text[i] == '<' ? 1 : text[i] == '>' ? -1 : 0;
    if (text[i] == '(' && depth == 0) return i;
  }
  return std::string_view::npos;
}

std::string_view afterLast(std::string_view text, std::string_view mark) {
  const std::size_t at = text.rfind(mark);
  return at == std::string_view::npos ? text : text.substr(at + mark.size());
}

bool isQualifiedName(std::string_view text) {
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_' && c != ':' && c != '~') return false;
  }
  return !text.empty() && std::isdigit(static_cast<unsigned char>(text.front())) == 0;
}

// Templates that only hold or call another class, which says what a function does; and types of numbers.
constexpr std::array<std::string_view, 19> kWrappers = {"Array",
                                                        "AUnaryFunctor",
                                                        "BFloat16",
                                                        "BinaryFunctor",
                                                        "BUnaryFunctor",
                                                        "Half",
                                                        "OffsetCalculator",
                                                        "PartSum",
                                                        "ReduceOp",
                                                        "TeamPartSum",
                                                        "complex",
                                                        "func_wrapper_t",
                                                        "array",
                                                        "gpu_kernel_impl",
                                                        "gpu_kernel_impl_nocast",
                                                        "MatrixShape",
                                                        "TensorListMetadata",
                                                        "UnaryFunctor",
                                                        "TrivialOffsetCalculator"};

bool isPartOfName(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// "FillFunctor" of "4, at::native::FillFunctor<float>, ..."; empty: none of the arguments says anything. A name without a namespace counts
// if it has several words.
std::string_view tellingArgument(std::string_view arguments) {
  for (std::size_t i = 0; i < arguments.size();) {
    if (!isPartOfName(arguments[i])) {
      ++i;
      continue;
    }
    std::size_t end = i;
    while (end < arguments.size() && isPartOfName(arguments[end])) ++end;
    const std::string_view word = arguments.substr(i, end - i), before = arguments.substr(0, i);
    const bool is_cast = before.ends_with('(') && arguments.substr(end).starts_with(')');
    const bool is_last = !arguments.substr(end).starts_with("::");
    const bool counts = before.ends_with("::") ? !before.ends_with("std::") : word.find('_') != word.npos;
    const bool is_name = std::isdigit(static_cast<unsigned char>(word.front())) == 0;
    if (is_name && is_last && counts && !is_cast && std::ranges::find(kWrappers, word) == kWrappers.end())
      return word;
    i = end;
  }
  return {};
}

// Of "sm90_xmma_fprop_..._tilesize128x128x32_warpgroupsize1x1x1_g1_execute_...", which libraries make of their engines' settings.
std::string_view withoutSettings(std::string_view name) {
  if (name.starts_with("void ")) name.remove_prefix(5);  // kernels return nothing
  const std::size_t tile = name.find("_tilesize");
  if (tile == name.npos || name.find('(') != name.npos) return name;
  return name.substr(0, name.find('_', tile + 1));
}

}  // namespace

std::string shortName(std::string_view name) {
  const std::string text = without(without(std::string(name), "(anonymous namespace)::"), "<unnamed>::");
  std::string_view head = std::string_view(text).substr(0, beginOfParameters(text));
  const bool has_parameters = head.size() < text.size() && text.back() == ')';
  const std::size_t open = beginOfArguments(head);
  if (!has_parameters && (open == std::string_view::npos || head.size() < text.size()))
    return std::string(withoutSettings(name));
  const std::string_view arguments =
      open == std::string_view::npos ? std::string_view{} : head.substr(open + 1);
  // A type before the name may have arguments with blanks, and ends with one.
  const std::string_view qualified = afterLast(head.substr(0, open), " ");
  const std::string_view base = afterLast(qualified, "::");
  if (!isQualifiedName(base)) return std::string(withoutSettings(name));
  // Of "Memcpy HtoD (Pageable -> Device)" and "step.py(12): f()" nothing is left out.
  if (!isQualifiedName(afterLast(qualified, "> ")) ||
      (open == std::string_view::npos && text[head.size() - 1] == ' '))
    return std::string(withoutSettings(name));
  const std::string_view of = tellingArgument(arguments);
  return std::string(base) + (of.empty() ? "" : "<" + std::string(of) + ">");
}

}  // namespace pitwall
