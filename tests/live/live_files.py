"""Files that a virtual machine writes and syncs, and finds again after the drive has ended."""

from __future__ import annotations

import re

Sums = dict[str, str]
"""MD5 sums of files, as the virtual machine reports them."""

MAKE = {"ext4": "/tools/mke2fs -q -F -t ext4 $DEVICE", "f2fs": "/tools/mkfs.f2fs -q -f $DEVICE"}
CHECK = {"ext4": "/tools/e2fsck -fn $DEVICE", "f2fs": "/tools/fsck.f2fs --dry-run -f $DEVICE"}
"""Both checkers repair nothing, and fail if there is something to repair."""

WRITE = """
# write DIRECTORY WRITER FILES: says of each file that it is whole once fsync has said so.
write() {
    number=0
    while [ $number != $3 ]; do
        number=$((number + 1))
        file=$1/$2-$number
        head -c $((RANDOM % 64 * 1000 + RANDOM % 999 + 1)) /dev/urandom > /$2
        sum=$(md5sum < /$2)
        dd if=/$2 of=$file bs=64k conv=fsync 2> /dev/null || return
        echo "whole $file ${sum%% *}"
    done
}
"""

CYCLE = """
if [ $CYCLE = 1 ]; then $MAKE || echo FAIL make; fi
mount -t $NAME $DEVICE /mnt && umount /mnt || echo FAIL replay
$CHECK > /check.txt 2>&1; echo checked $?
grep -i . /check.txt | tail -20 | sed 's/^/# /'
# Without the drive, what is written to /mnt is in the guest's memory and says nothing.
mount -t $NAME -o discard $DEVICE /mnt || { echo FAIL mount; $STOP; }
md5sum /mnt/[0-9]*/*
echo all
cd /mnt
[ -d $((CYCLE - 3)) ] && rm -r $((CYCLE - 3))
cd /
mkdir /mnt/$CYCLE
echo writing
write /mnt/$CYCLE a -1 & write /mnt/$CYCLE b -1 & write /mnt/$CYCLE c -1 & wait
"""
"""Checks the file system and all files on $DEVICE, and then writes files until the drive ends.
$CYCLE counts the cycles from 1. $STOP ends the cycle if the drive has ended before."""

KEPT_CYCLES = 3
"""Cycles whose files are still there."""


def about(name: str, device: str, stop: str) -> str:
    """Returns the variables of the scripts for a file system on a device."""
    make, check = (text[name].replace("$DEVICE", device) for text in (MAKE, CHECK))
    return f"NAME={name}\nDEVICE={device}\nMAKE='{make}'\nCHECK='{check}'\nSTOP='{stop}'\n"


def whole(lines: list[str]) -> Sums:
    """Returns the files that the virtual machine has synced."""
    found = [re.fullmatch(r"whole (\S+) ([0-9a-f]{32})", line) for line in lines]
    return {match[1]: match[2] for match in found if match}


def there(lines: list[str]) -> Sums:
    """Returns the files that the virtual machine has found."""
    found = [re.fullmatch(r"([0-9a-f]{32})  (\S+)", line) for line in lines]
    return {match[2]: match[1] for match in found if match}


def fails(lines: list[str]) -> list[str]:
    """Returns the steps of a script that have failed."""
    return [line for line in lines if line.startswith("FAIL")]


def looked_up(lines: list[str], expected: Sums) -> bool:
    """Returns whether the virtual machine got as far as checking its files. If so, checks that all
    expected files are there and intact."""
    assert fails(lines) == [], lines
    if "all" not in lines:
        return False
    assert "checked 0" in lines, lines
    present = there(lines)
    assert {file: present.get(file) for file in expected} == expected
    return True
