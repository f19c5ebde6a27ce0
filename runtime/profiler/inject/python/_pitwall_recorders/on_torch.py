"""PyTorch: the recorder's library receives its operators through PyTorch's own callbacks, and the layers from here."""

import ctypes
import os
import sys
import weakref

from . import about


class _Layers:
    """Gives the library the layer of each operator: hooks that PyTorch calls before and after each module's forward().

    They read neither the module's parameters nor its inputs and return nothing. While a graph is compiled or exported they do
    nothing, so that they are no part of it.
    """

    def __init__(self, torch, library):
        calls = ctypes.PyDLL(library)  # keeps the interpreter's lock: the functions are shorter than giving it up
        self._enter = calls.pitwall_inject_torch_enter_layer
        self._leave = calls.pitwall_inject_torch_leave_layer
        self._name = calls.pitwall_inject_torch_name_layer
        for function in (self._enter, self._leave, self._name):
            function.restype = None
        self._known = {}  # id of a module: weak reference, number
        self._numbers = {}  # by name: modules that a program makes anew have the same one
        self._first = None  # kind of the program's first network: paths in others begin with theirs
        if hasattr(torch, "compile") and not hasattr(torch.compiler, "is_compiling"):
            raise RuntimeError("this version does not say when it compiles")
        self._is_compiling = torch.compiler.is_compiling if hasattr(torch, "compile") else lambda: False
        self._is_tracing = torch._C._get_tracing_state

    def install(self, module):
        known, is_compiling, is_tracing = self._known, self._is_compiling, self._is_tracing
        enter, leave, number_of = self._enter, self._leave, self._number_of

        def before(layer, inputs):
            if is_compiling() or is_tracing() is not None:
                return
            entry = known.get(id(layer))
            enter(entry[1] if entry is not None and entry[0]() is layer else number_of(layer))

        def after(layer, inputs, outputs):
            if is_compiling() or is_tracing() is not None:
                return
            entry = known.get(id(layer))
            if entry is not None:
                leave(entry[1])

        modules = module.nn.modules.module
        modules.register_module_forward_pre_hook(before)
        try:
            modules.register_module_forward_hook(after, always_call=True)  # also after an exception
        except TypeError:
            modules.register_module_forward_hook(after)  # of 1.13

    def _number_of(self, layer):
        """Called when a module is met for the first time: the outermost one names those within it."""
        try:
            kind = type(layer).__name__
            within = [(path, inner) for path, inner in layer.named_modules() if inner is not layer]
            if within and self._first is None:
                self._first = kind
            self._add(layer, kind)
            for path, inner in within:
                known = self._known.get(id(inner))
                if known is None or known[0]() is not inner:
                    self._add(inner, path if kind == self._first else "%s.%s" % (kind, path))
            return self._known[id(layer)][1]
        except Exception as error:
            about.note("a layer of PyTorch has no name: " + about.text_of(error))
            return 0

    def _add(self, layer, name):
        key = id(layer)
        number = self._numbers.get(name)
        if number is None:
            number = self._numbers[name] = len(self._numbers) + 1
            self._name(number, name.encode(errors="replace"))
        self._known[key] = (weakref.ref(layer, lambda _: self._known.pop(key, None)), number)


def record(module, library):
    parts = module.__version__.split(".")
    version = (int(parts[0]), int(parts[1]))
    if not (1, 13) <= version < (3, 0):
        sys.stderr.write(
            "pitwall: PyTorch's operators are not recorded: version %s is not one of 1.13 to 2.x\n" % module.__version__
        )
        return
    if ctypes.CDLL(library).pitwall_inject_torch() != 1:
        return
    try:
        _Layers(module, library).install(module)
    except Exception as error:
        about.note("layers of PyTorch have no names in process %d: %s" % (os.getpid(), about.text_of(error)))
