#!/usr/bin/env bash
# record.sh PITWALL FAKE_TORCH_FOLDER: `pitwall record` of Python programs that use PyTorch and are not changed for it: a
# package of that name over a library with PyTorch's symbols, and Debian's PyTorch where it is installed.
set -uo pipefail
pitwall=$1 fake=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
failures=0

check() { # check WHAT EXPECTED GOT
  [ "$2" = "$3" ] && return
  printf 'FAILED %s\n  expected: %s\n  got:      %s\n' "$1" "$2" "$3"
  failures=$((failures + 1))
}
ask() { "$pitwall" query "$1" "$2" --format tsv 2>&1 | tail -n +2 | tr '\n' ' ' | sed 's/ $//'; }

mkdir -p package/torch/nn/modules user
echo "from .modules.module import Module" > package/torch/nn/__init__.py
echo "from . import module" > package/torch/nn/modules/__init__.py
cat > package/torch/nn/modules/module.py <<'END'
_before, _after = [], []
def register_module_forward_pre_hook(hook): _before.append(hook)
def register_module_forward_hook(hook, *, always_call=False): _after.append(hook)
class Module:
    def __call__(self, *inputs):
        for hook in _before: hook(self, inputs)
        try: return self.forward(*inputs)
        finally:
            for hook in _after: hook(self, inputs, None)
    def named_modules(self):
        yield "", self
        for name, value in vars(self).items():
            if isinstance(value, Module):
                for path, inner in value.named_modules(): yield (name + "." + path).rstrip("."), inner
END
cat > package/torch/__init__.py <<END
import ctypes
__version__ = "2.1.0"
from . import nn
class _C: _get_tracing_state = staticmethod(lambda: None)
class compiler: is_compiling = staticmethod(lambda: compiler.now)
compiler.now = False
def compile(model): return model
_library = ctypes.CDLL("$fake/libtorch_cpu.so", ctypes.RTLD_GLOBAL)
def run(name, scope=0):
    _library.fake_torch_begin(name.encode(), scope, ctypes.c_int64(2), ctypes.c_int64(3), b"float")
    _library.fake_torch_end(0)
END
cat > user/sitecustomize.py <<'END'
import os
with open("user_sitecustomize", "a") as file: file.write("%d\n" % os.getpid())
END
cat > program.py <<'END'
import importlib.util, os, subprocess, sys
assert importlib.util.find_spec("torch") is not None
assert not any("pitwall" in entry for entry in sys.path), sys.path
import torch
for i in range(10): torch.run("aten::mul")
if "--fork" in sys.argv and os.fork() == 0:
    torch.run("aten::child")
    sys.exit(0)
if "--spawn" in sys.argv:
    subprocess.run([sys.executable, "-c", "import torch; torch.run('aten::child')"], check=True)
if "--fork" in sys.argv: os.wait()
if "--kill" in sys.argv: os.kill(os.getpid(), 9)
print("done")
END
cat > layers.py <<'END'
import torch
class Layer(torch.nn.Module):
    def forward(self, fails=False):
        torch.run("aten::mm")
        if fails: raise ValueError
class Net(torch.nn.Module):
    def __init__(self): self.first, self.second = Layer(), Layer()
    def forward(self, fails=False):
        torch.run("aten::relu")
        self.first()
        self.second(fails)
        torch.run("aten::add")
net = Net()
net()
try: net(True)
except ValueError: torch.run("aten::outside")
torch.compiler.now = True
net()
END
export PYTHONPATH=$folder/user:$folder/package
counts="SELECT name || ' ' || count(*) FROM event WHERE kind = 'operator' GROUP BY name ORDER BY name"

check "output of the program" done "$("$pitwall" record -q -o a.pitwall -- python3 program.py)"
check "operators" "aten::mul 10" "$(ask a.pitwall "$counts")"
check "the user's own sitecustomize" 1 "$(wc -l < user_sitecustomize)"
"$pitwall" record -q -o fork.pitwall -- python3 program.py --fork > /dev/null
check "operators of a forked process" "aten::child 1 aten::mul 10" "$(ask fork.pitwall "$counts")"
"$pitwall" record -q -o spawn.pitwall -- python3 program.py --spawn > /dev/null
check "operators of a new process" "aten::child 1 aten::mul 10" "$(ask spawn.pitwall "$counts")"
"$pitwall" record -q -o kill.pitwall -- python3 program.py --kill > /dev/null 2>&1
check "operators of a killed process" "aten::mul 10" "$(ask kill.pitwall "$counts")"
"$pitwall" record -q -o layers.pitwall -- python3 layers.py > /dev/null
check "layers" " aten::add 1, aten::mm 2, aten::outside 1, aten::relu 1,Net aten::add 1,Net aten::relu 2,first aten::mm 2,second aten::mm 2" \
  "$(ask layers.pitwall "SELECT group_concat(line) FROM (SELECT layer || ' ' || name || ' ' || count(*) AS line FROM event
    WHERE kind = 'operator' GROUP BY layer, name ORDER BY line)")"
"$pitwall" record -q --framework none -o none.pitwall -- python3 program.py > /dev/null
check "operators with --framework none" "" "$(ask none.pitwall "$counts")"
sed -i 's/2\.1\.0/1.8.0/' package/torch/__init__.py
"$pitwall" record -q -o old.pitwall -- python3 program.py > /dev/null 2> message
check "operators of an older version" "" "$(ask old.pitwall "$counts")"
check "its message" 1 "$(grep -c 'version 1.8.0 is not one of 1.13 to 2.x' message)"

unset PYTHONPATH
python=/usr/bin/python3
if ! "$python" -c 'import torch' 2> /dev/null; then
  echo "Debian's PyTorch is not tested: python3-torch is not installed"
else
  cat > train.py <<'END'
import torch
torch.manual_seed(0)
data = torch.utils.data.TensorDataset(torch.randn(64, 3, 8, 8), torch.randint(0, 4, (64,)))
net = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.Flatten(), torch.nn.Linear(144, 4))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(3):
    for x, y in torch.utils.data.DataLoader(data, batch_size=16):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(net(x), y).backward()
        optimizer.step()
END
  "$pitwall" record -q -o train.pitwall -- "$python" train.py
  check "PyTorch: convolutions by shape" "aten::conv2d forward 16x3x8x8,4x3x3x3,4 float 12" "$(ask train.pitwall \
    "SELECT event.name || ' ' || event.phase || ' ' || shapes || ' ' || dtype || ' ' || count(*)
      FROM event JOIN operator ON operator.id = event.operator WHERE event.name = 'aten::conv2d' GROUP BY operator.id")"
  check "PyTorch: layers" "0 1 2" "$(ask train.pitwall "SELECT DISTINCT layer FROM operator WHERE layer <> '' ORDER BY layer")"
  check "PyTorch: backward" "12" "$(ask train.pitwall "SELECT count(*) FROM event WHERE name = 'aten::convolution_backward' AND phase = 'backward'")"
  check "PyTorch: optimizer steps" "12" "$(ask train.pitwall "SELECT count(*) FROM event WHERE name = 'Optimizer.step#SGD.step'")"
  check "PyTorch: waits for the loader" "15" "$(ask train.pitwall "SELECT count(*) FROM event WHERE kind = 'data_wait'")"
  check "PyTorch: phases of the report" "backward forward update" "$(ask train.pitwall "SELECT category FROM analysis_breakdown
    WHERE share > 0 AND category IN ('forward', 'backward', 'update') ORDER BY category")"
fi
[ "$failures" -eq 0 ] && echo "all checks passed"
exit "$((failures > 0))"
