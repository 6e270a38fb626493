// `Interrupt`: how Python stops work in other threads, and signals stop that of its main thread.
#include "mixwood/interrupt.hpp"

#include <nanobind/stl/optional.h>

#include <memory>
#include <vector>

#include "bindings.hpp"

namespace nb = nanobind;

namespace mixwood::bindings {

namespace {

// Ctrl-C and other signals are Python's to handle, in its main thread; this lets them through.
void let_signals_through() {
  const nb::gil_scoped_acquire acquired;
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

// As a context manager it is in force in the thread that enters it.
class SharedInterrupt {
 public:
  Interrupt& operator*() { return *shared_; }
  void enter() { scopes_.push_back(std::make_unique<Interrupt::Scope>(shared_)); }
  void leave() { scopes_.pop_back(); }

 private:
  std::shared_ptr<Interrupt> shared_ = std::make_shared<Interrupt>();
  static inline thread_local std::vector<std::unique_ptr<Interrupt::Scope>> scopes_;
};

}  // namespace

void bind_interrupt(nb::module_& m) {
  // A module is imported by the main thread; by another one, signals wait for Python, as ever.
  Interrupt::polling = std::this_thread::get_id();
  Interrupt::poll = let_signals_through;
  nb::exception<Interrupted>(m, "Interrupted");
  nb::class_<SharedInterrupt>(
      m, "Interrupt",
      "Stops work, and counts the rows put in. In force in every thread that enters it with "
      "`with`, and for all later work of the chains that are made there.")
      .def(nb::init<>())
      .def(
          "stop", [](SharedInterrupt& i) { (*i).stop(); },
          "End the work soon, with Interrupted; safe from any thread.")
      .def_prop_ro(
          "done", [](SharedInterrupt& i) { return (*i).done(); }, "How many rows were put in.")
      .def("__enter__",
           [](SharedInterrupt& i) -> SharedInterrupt& {
             i.enter();
             return i;
           })
      .def(
          "__exit__", [](SharedInterrupt& i, nb::object, nb::object, nb::object) { i.leave(); },
          nb::arg("kind").none(), nb::arg("error").none(), nb::arg("traceback").none());
}

}  // namespace mixwood::bindings
