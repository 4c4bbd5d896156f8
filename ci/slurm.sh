#!/bin/sh
# Runs a measurement as an array of four jobs under a real Slurm on this machine, merges the parts,
# and compares with one run: the bytes must be the same.
#
#   munged, slurmctld, slurmd in a folder of their own ─► sbatch --array=1-4 ─► zeronic merge ─► cmp
#
# Needs root, and Debian's slurm-wlm and munge; it installs nothing. Where they are not there, it
# says `skipped: no slurm` and ends with 0. Usage: ci/slurm.sh [PROGRAM]
set -eu

program=$(realpath "${1:-target/release/zeronic}")
seeds=2

skip() {
    echo "skipped: no slurm: $1" >&2
    exit 0
}

[ "$(id -u)" = 0 ] || skip "munged and slurmd want root"
for tool in munged slurmctld slurmd sbatch sinfo; do
    command -v "$tool" > /dev/null || [ -x "/usr/sbin/$tool" ] || skip "$tool is not installed"
done
id munge > /dev/null 2>&1 || skip "there is no user munge"
PATH=$PATH:/usr/sbin

folder=$(mktemp -d)
chmod 755 "$folder"
started=
stop() {
    for pid in $started; do
        kill "$pid" 2> /dev/null || true
    done
    rm -rf "$folder"
}
trap stop EXIT
trap 'exit 1' INT TERM

# Starts a daemon in the foreground of its own, and remembers its process.
start() {
    name=$1
    shift
    "$@" > "$folder/$name.out" 2>&1 &
    started="$! $started"
}

# Waits until a command succeeds, for 30 s.
wait_for() {
    what=$1
    shift
    tries=0
    until "$@" > /dev/null 2>&1; do
        tries=$((tries + 1))
        [ "$tries" -lt 60 ] || { echo "$what does not come up" >&2; tail -n 5 "$folder"/*.out >&2; exit 1; }
        sleep 0.5
    done
}

mkdir "$folder/munge" "$folder/state" "$folder/spool"
dd if=/dev/urandom of="$folder/munge/key" bs=1024 count=1 2> /dev/null
chmod 400 "$folder/munge/key"
chown -R munge: "$folder/munge"
chmod 711 "$folder/munge"
start munged setpriv --reuid=munge --regid=munge --clear-groups munged --foreground --force \
    --key-file="$folder/munge/key" --socket="$folder/munge/socket" \
    --pid-file="$folder/munge/pid" --seed-file="$folder/munge/seed" --log-file="$folder/munge/log"
wait_for munged munge --socket="$folder/munge/socket" -n

cat > "$folder/slurm.conf" <<END
ClusterName=zeronic
SlurmctldHost=$(hostname -s)(127.0.0.1)
AuthType=auth/munge
AuthInfo=socket=$folder/munge/socket
CredType=cred/munge
SlurmUser=root
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
SlurmctldPort=16817
SlurmdPort=16818
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
NodeName=$(hostname -s) NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
END
export SLURM_CONF="$folder/slurm.conf"
start slurmctld slurmctld -D -f "$SLURM_CONF"
start slurmd slurmd -D -f "$SLURM_CONF"
wait_for "the node" sh -c 'sinfo -h -o %t | grep -qx idle'

cat > "$folder/part.sh" <<END
#!/bin/sh
exec "$program" bench incast --seeds $seeds \
    --shard "\$SLURM_ARRAY_TASK_ID/\$SLURM_ARRAY_TASK_COUNT" \
    --json "$folder/part\$SLURM_ARRAY_TASK_ID.jsonl"
END
sbatch -W --array=1-4 --output="$folder/job-%a.out" --chdir="$folder" "$folder/part.sh" || {
    cat "$folder"/job-*.out >&2
    exit 1
}
# A goal that is not reached is no matter of this script: status 1 says that, 2 that it cannot run.
"$program" merge "$folder"/part*.jsonl --json "$folder/merged.json" > /dev/null || [ $? = 1 ]
"$program" bench incast --seeds $seeds --json "$folder/whole.json" > /dev/null || [ $? = 1 ]
cmp "$folder/merged.json" "$folder/whole.json"
echo "four parts under Slurm merge into what one run gives: $(wc -c < "$folder/whole.json") bytes"
