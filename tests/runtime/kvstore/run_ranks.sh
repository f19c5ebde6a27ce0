#!/bin/sh
# run_ranks.sh N PROGRAM [ARGUMENTS]: runs the program as a job of N ranks. 77: there is no mpirun.
set -eu
ranks=$1
shift
command -v mpirun > /dev/null || { echo "skipped: mpirun is not installed (openmpi-bin)"; exit 77; }
# Waiting threads sleep: there may be more ranks than CPUs.
export OMP_NUM_THREADS=2 OMP_WAIT_POLICY=PASSIVE GOMP_SPINCOUNT=0
exec mpirun -n "$ranks" --oversubscribe --allow-run-as-root --bind-to none "$@"
