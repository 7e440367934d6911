// Where did the user call this op? A 32-bit id for each source position that ran one; see site.cpp.
#pragma once
#include <Python.h>

#include <cstdint>
#include <string>
#include <vector>

namespace adjoint::python::site {

struct Site {
  const std::string* file = nullptr;
  const std::string* function = nullptr;
  int line = 0, end_line = 0, column = 0, end_column = 0;
};

bool init();                              // true: the fast way works on this interpreter
uint32_t capture() noexcept;              // 0: no user line is known
Site info(uint32_t id);                   // throws IndexError
void skip_prefix(std::string directory);  // files below are library code
const std::vector<std::string>& skipped() noexcept;
bool attached() noexcept;                 // does this thread hold the interpreter?

}  // namespace adjoint::python::site
