"""A Python program's copy of NVTX, by ctypes alone: the tables that the C headers would make, handed to the tool that
NVTX_INJECTION64_PATH names."""

import ctypes
import os
import threading

Table = ctypes.c_void_p
GetModule = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_uint32, ctypes.POINTER(ctypes.c_void_p),
                             ctypes.POINTER(ctypes.c_uint))
GetExport = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_uint32)
CORE, CORE2 = 1, 5
PUSH = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_char_p)
POP = ctypes.CFUNCTYPE(ctypes.c_int)
MARK = ctypes.CFUNCTYPE(None, ctypes.c_char_p)
START = ctypes.CFUNCTYPE(ctypes.c_uint64, ctypes.c_char_p)
END = ctypes.CFUNCTYPE(None, ctypes.c_uint64)


class Callbacks(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("get_module", GetModule)]


class Copy:
    """One copy of NVTX; every shared object that uses it has its own."""

    def __init__(self, library):
        self.slots = {module: (ctypes.c_void_p * 16)() for module in (CORE, CORE2)}
        self.tables = {}
        for module, slots in self.slots.items():
            places = [0] + [ctypes.addressof(slots) + 8 * i for i in range(1, 16)]
            self.tables[module] = (ctypes.c_void_p * 16)(*places)
        self.callbacks = Callbacks(ctypes.sizeof(Callbacks), GetModule(self.get_module))
        self.export = GetExport(lambda table: ctypes.addressof(self.callbacks) if table == 1 else None)
        self.attached = library.InitializeInjectionNvtx2(self.export)

    def get_module(self, module, table, size):
        if module not in self.tables:
            return 0
        table[0], size[0] = ctypes.addressof(self.tables[module]), 16
        return 1

    def function(self, number, kind):
        return kind(self.slots[CORE][number])


library = ctypes.CDLL(os.environ["NVTX_INJECTION64_PATH"])
copies = [Copy(library), Copy(library)]
assert all(copy.attached == 1 for copy in copies)
first, second = copies
push, pop = first.function(9, PUSH), first.function(11, POP)
assert push(b"outer") == 0
assert second.function(9, PUSH)(b"inner") == 1, "the nesting of a thread is one, whatever copy is called"
assert pop() == 1
first.function(2, MARK)(b"half way")
range_id = first.function(5, START)(b"across threads")
thread = threading.Thread(target=lambda: second.function(7, END)(range_id))
thread.start()
thread.join()
assert pop() == 0
assert pop() == -1
print("recorded")
