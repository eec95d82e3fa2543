# shellcheck shell=bash
# disks.sh - small disks of a script's own, which nobody else sees and which end
# with it. Who includes it is in a space of mounts of his own, see disk_full.t.

DISKS=() # where they are mounted

# disk_start DIRECTORY SIZE [FILES]: a disk for so many bytes and files.
disk_start() {
    mount -t tmpfs -o "size=$2,nr_inodes=${3:-0}" tmpfs "$1" \
        2>"$WORK/mount.log" || skip_all 'no file system may be mounted'
    DISKS+=("$1")
    trap disks_end EXIT
}

disks_end() {
    local status=$? disk
    set +e
    work_stop
    for disk in "${DISKS[@]}"; do
        umount "$disk"
    done
    (exit "$status")
    work_end
}

# disk_fill DIRECTORY: the last of the file does not fit.
disk_fill() {
    dd if=/dev/zero of="$1/ballast" bs=64k 2>/dev/null || true
}

disk_free() {
    rm "$1/ballast"
}
