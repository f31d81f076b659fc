"""Options of fio's job files: modelled, ignored or refused."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches

ALIASES = {
    "readwrite": "rw",
    "blocksize": "bs",
    "blocksize_range": "bsrange",
    "blocksize_unaligned": "bs_unaligned",
    "ba": "blockalign",
    "io_limit": "io_size",
    "timeout": "runtime",
    "wait_for_previous": "stonewall",
    "iodepth_batch_complete": "iodepth_batch_complete_min",
    "iodepth_batch_submit": "iodepth_batch",
    "fdp_pli": "plids",
    "fdp_pli_select": "plid_select",
    "fdp_scheme": "dp_scheme",
    "fill_fs": "fill_device",
    "nr_files": "nrfiles",
    "fileoffset": "offset",
    "ratemin": "rate_min",
    "ratecycle": "rate_cycle",
    "ss": "steadystate",
    "ss_dur": "steadystate_duration",
    "ss_ramp": "steadystate_ramp_time",
    "threads": "thread",
    "mem": "iomem",
    "mem_align": "iomem_align",
    "disable_bw": "disable_bw_measurement",
    "proto": "protocol",
    "hugepage_size": "hugepage-size",
}
"""Other names of options."""

MODELLED: Mapping[str, str] = {
    "name": "name of the job in results",
    "rw": "read, write, trim, randread, randwrite, randtrim, rw, readwrite or randrw; "
    "`write:8k` leaves 8 KiB out after each request",
    "bs": "bytes of a request; a list has reads, writes, trims",
    "bsrange": "range of sizes, multiples of the smallest",
    "bssplit": "sizes with percentages",
    "bs_unaligned": "every size of `bsrange`, in bytes",
    "blockalign": "random offsets are its multiples; switches `norandommap` on",
    "size": "bytes of the region; a percentage is a share of the file or drive",
    "filesize": "bytes of the file; `size` is then the amount of requests",
    "io_size": "bytes of all requests of a loop",
    "offset": "start of the region; a percentage is rounded up to `offset_align`",
    "offset_align": "alignment of a percentage; without it the smallest size",
    "offset_increment": "added to `offset` for each clone",
    "number_ios": "most requests of a loop",
    "filename": "jobs with one name share a file; without a name each clone has a file of its own",
    "directory": "part of the file's name",
    "filename_format": "file's name, with `$jobname`, `$jobnum` and `$filenum`",
    "iodepth": "requests outstanding",
    "iodepth_low": "requests outstanding at which the job fills its queue again",
    "iodepth_batch_complete_min": "completions for which the job waits before it sends again",
    "ioengine": "only for a note where the engine keeps one request outstanding",
    "numjobs": "clones of the job",
    "loops": "passes over the work",
    "time_based": "the job repeats its work until `runtime`",
    "runtime": "time after which the job sends no request",
    "ramp_time": "the job's figures leave its first requests out",
    "startdelay": "time from the start of the run; of a range, a random time for each clone",
    "stonewall": "the job and those below it start when all jobs above have ended",
    "wait_for": "the job starts when all clones of that job have ended",
    "new_group": "begins a group of `exitall`",
    "exitall": "all jobs of the group end with this job",
    "rwmixread": "percentage of reads",
    "rwmixwrite": "percentage of writes",
    "random_distribution": "random, zipf, pareto, normal, zoned or zoned_abs",
    "percentage_random": "percentage of random offsets; the others follow the last request",
    "norandommap": "random offsets are drawn anew; without it a pass has every block once",
    "random_generator": "with `lfsr`, a pass has every block once even with `norandommap`",
    "randrepeat": "0: each pass has other random numbers; otherwise passes are equal",
    "randseed": "mixed with the seed of the run",
    "rate": "most bytes per second; a list has reads, writes, trims",
    "rate_iops": "most requests per second, of the smallest size",
    "rate_process": "linear or poisson",
    "rate_ignore_thinktime": "the rate does not catch up after a `thinktime`",
    "thinktime": "pause after `thinktime_blocks` requests have completed",
    "thinktime_blocks": "requests between two pauses",
    "fsync": "writes between two flushes",
    "fdatasync": "writes between two flushes",
    "end_fsync": "a flush at the end of each pass",
    "fsync_on_close": "a flush at the end of each pass",
    "fdp": "writes have placement handles",
    "dataplacement": "none, fdp or streams",
    "plids": "placement handles of the job; without a list all handles of the drive",
    "plid_select": "roundrobin or random",
    "kb_base": "1024 or 1000: bytes of `k`",
}
"""Modelled options, with their meaning here."""

IGNORED: Mapping[str, str] = {
    "how the host prepares and sends a request": """
        direct buffered atomic thread iodepth_batch iodepth_batch_complete_max io_submit_mode
        iomem iomem_align hugepage-size lockmem hipri hipri_percentage fixedbufs registerfiles
        sqthread_poll sqthread_poll_cpu nonvectored libaio_vectored force_async nowait uncached
        userspace_reap cmd_type cmdprio cmdprio_percentage cmdprio_class cmdprio_hint
        cmdprio_bssplit prio prioclass priohint nice cpus_allowed cpus_allowed_policy cpumask
        numa_cpu_nodes numa_mem_policy cgroup cgroup_weight cgroup_nodelete uid gid ioscheduler
        thinktime_spin comm rate_cycle clocksource gtod_cpu gtod_reduce fadvise_hint md_per_io_size
        pi_act pi_chk apptag apptag_mask""",
    "files of the host": """
        unique_filename openfiles file_service_type filetype create_serialize create_fsync
        create_on_open allow_file_create allow_mounted_write fallocate overwrite pre_read
        invalidate unlink unlink_each_loop""",
    "content of the data, and its verification": """
        zero_buffers refill_buffers scramble_buffers buffer_pattern buffer_compress_percentage
        buffer_compress_chunk dedupe_percentage dedupe_mode dedupe_working_set_percentage
        dedupe_global verify do_verify verify_async verify_async_cpus verify_backlog
        verify_backlog_batch verify_bytchk verify_dump verify_fatal verify_header_seed
        verify_interval verify_mode verify_offset verify_pattern verify_pattern_interval
        verify_policy verify_state_load verify_state_save verify_write_sequence trim_percentage
        trim_verify_zero trim_backlog trim_backlog_batch experimental_verify""",
    "random numbers whose seed is that of the run": "allrandrepeat softrandommap rwmixcycle",
    "reports and logs": """
        description group_reporting stats unified_rw_reporting percentile_list
        clat_percentiles lat_percentiles slat_percentiles significant_figures disk_util unit_base
        disable_lat disable_clat disable_slat disable_bw_measurement bwavgtime iopsavgtime
        per_job_logs log_alternate_epoch log_alternate_epoch_clock_id log_avg_msec log_compression
        log_compression_cpus log_entries log_hist_coarseness log_hist_msec log_issue_time
        log_max_value log_offset log_prio log_store_compressed log_unix_epoch log_window_value
        job_start_clock_id write_bw_log write_hist_log write_iops_log write_lat_log write_iolog
        block_error_percentiles flow_id flow_sleep""",
    "errors, and programs before and after": """
        continue_on_error ignore_error error_dump exitall_on_error exec_prerun exec_postrun
        recover_zbd_write_error""",
    "settings of one engine": """
        uri http_host http_user http_pass https http_mode http_object_mode http_s3_key
        http_s3_keyid http_s3_region http_s3_security_token http_s3_sse_customer_algorithm
        http_s3_sse_customer_key http_s3_storage_class http_swift_auth_token http_verbose hostname
        port interface ttl nodelay protocol listen pingpong window_size mss verb bindname
        clustername rbdname clientname pool volume brick conf busy_poll touch_objects namenode
        hdfsdirectory chunk_size cont object_class gpu_dev_id gpu_dev_ids cuda_io rocm_io nfs_url
        skip_bad
        xnvme_admin xnvme_async xnvme_sync xnvme_mem xnvme_dev_nsid xnvme_dev_subnqn xnvme_iovec
        libblkio_driver libblkio_path libblkio_pre_connect_props libblkio_num_entries
        libblkio_queue_size libblkio_pre_start_props libblkio_vectored
        libblkio_write_zeroes_on_trim libblkio_wait_mode
        libblkio_force_enable_completion_eventfd no_completion_thread spdk_conf spdk_json_conf
        spdk_mem spdk_single_seg spdk_core_mask spdk_rpc_listen_addr mem_size_mb shm_id mem_mb
        enable_sgl sge_size bit_bucket_data_len cpuload cpuchunks cpumode exit_on_io_done
        donorname inplace program arguments grace_time std_redirect stat_type log_flags
        disable_pcie_sgl_merge hostaddr digest_enable reg_uid transport_retry_count enable_vmd
        cdb_len rbd_encryption_format rbd_encryption_passphrase""",
}
"""Options without a meaning for a simulated drive, by subject."""


@dataclass(frozen=True)
class Refusal:
    """Why an option is not modelled, and the values with which it changes nothing."""

    why: str
    neutral: frozenset[str] = frozenset()


def _off(why: str, *neutral: str) -> Refusal:
    return Refusal(why, frozenset(neutral or ("0",)))


_ZONES = "zones of a zoned device are not modelled; the generator `zones` writes zones"
_REPLAY = "a job replays no log; simulate the log itself: floatgate run LOG"
_LATENCY = "a job does not change its depth by its latency"
_STEADY = "a job does not end at a steady state; set runtime or io_size"

REFUSED: Mapping[str, Refusal] = {
    "nrfiles": _off("a job has one file; write a section for each file", "1"),
    "opendir": Refusal("a job has one file; expected filename and size"),
    "lockfile": _off("files are not locked", "none"),
    "file_append": _off("files do not grow; set offset"),
    "fill_device": _off("set size to the bytes to write"),
    "create_only": _off("no request would be sent"),
    "bs_is_seq_rand": _off("sizes are set by kind of request"),
    "sync": _off("write-through is not modelled; fsync=1 flushes after each write", "none", "0"),
    "readfua": _off("forced unit access is not modelled"),
    "writefua": _off("forced unit access is not modelled; fsync=1 flushes after each write"),
    "write_barrier": _off("barriers are not modelled; expected fsync"),
    "sync_file_range": Refusal("a range is not flushed; expected fsync"),
    "end_syncfs": _off("expected end_fsync"),
    "serialize_overlap": _off("requests that overlap are sent like others"),
    "rw_sequencer": _off("rw=randread:8 is not modelled", "sequential"),
    "random_sequence_stride": _off("no sequence of blocks is modelled"),
    "num_range": _off("a trim has one range", "0", "1"),
    "write_mode": _off("only ordinary writes are modelled", "write"),
    "read_mode": _off("only ordinary reads are modelled", "read"),
    "sg_write_mode": _off("only ordinary writes are modelled", "write"),
    "write_hint": _off("hints are not modelled; expected plids", "none"),
    "stream_id": _off("expected dataplacement=streams and plids"),
    "dp_scheme": Refusal("handles by address are not modelled; write a section for each range"),
    "thinktime_blocks_type": _off("requests count when they complete", "complete"),
    "thinkcycles": _off("cycles of a processor have no time here; expected thinktime"),
    "thinktime_iotime": _off("expected thinktime_blocks"),
    "rate_min": _off("a job does not end at a low rate"),
    "rate_iops_min": _off("a job does not end at a low rate"),
    "max_latency": _off("a job does not end at a long latency"),
    "latency_target": _off(_LATENCY),
    "latency_window": _off(_LATENCY),
    "latency_percentile": _off(_LATENCY, "100", "100.0"),
    "latency_run": _off(_LATENCY),
    "steadystate": Refusal(_STEADY),
    "steadystate_duration": _off(_STEADY),
    "steadystate_ramp_time": _off(_STEADY),
    "steadystate_check_interval": _off(_STEADY),
    "ramp_size": _off("expected ramp_time"),
    "flow": _off("jobs do not share tokens; expected rate_iops"),
    "exit_what": _off("exitall ends the group", "group"),
    "verify_only": _off("data is not verified"),
    "sprandom": _off("expected start.fill of the drive"),
    "spr_op": Refusal("expected start.fill of the drive"),
    "spr_cs": Refusal("expected start.fill of the drive"),
    "spr_num_regions": Refusal("expected start.fill of the drive"),
    "zonemode": _off(_ZONES, "none"),
    "zonesize": _off(_ZONES),
    "zonerange": _off(_ZONES),
    "zoneskip": _off(_ZONES),
    "zonecapacity": _off(_ZONES),
    "read_beyond_wp": _off(_ZONES),
    "max_open_zones": _off(_ZONES),
    "job_max_open_zones": _off(_ZONES),
    "ignore_zone_limits": _off(_ZONES),
    "zone_reset_threshold": _off(_ZONES),
    "zone_reset_frequency": _off(_ZONES),
    "write_zone_remainders": _off(_ZONES),
    "read_iolog": Refusal(_REPLAY),
    "read_iolog_chunked": _off(_REPLAY),
    "merge_blktrace_file": Refusal(_REPLAY),
    "merge_blktrace_scalars": Refusal(_REPLAY),
    "merge_blktrace_iters": Refusal(_REPLAY),
    "replay_no_stall": _off(_REPLAY),
    "replay_redirect": Refusal(_REPLAY),
    "replay_scale": _off(_REPLAY, "1"),
    "replay_align": _off(_REPLAY),
    "replay_skip": Refusal(_REPLAY),
    "replay_time_scale": _off(_REPLAY, "100"),
    "profile": Refusal("built-in profiles are not modelled"),
}
"""Options that would change the requests, and are not modelled."""


def ignored() -> Iterator[tuple[str, str]]:
    """Yields each ignored option with its subject."""
    for subject, names in IGNORED.items():
        for name in names.split():
            yield name, subject


IGNORED_NAMES = frozenset(name for name, _ in ignored())


def meant(option: str) -> str:
    """Returns a hint at the options that `option` may stand for; empty if there is none."""
    options = [*MODELLED, *IGNORED_NAMES, *REFUSED, *ALIASES]
    close = get_close_matches(option, options, 1, 0.75)
    return f"; did you mean {close[0]}?" if close else ""
