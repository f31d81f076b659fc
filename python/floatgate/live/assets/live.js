// Asks the drive how it is, once a second while the page can be seen, and shows it.

import { showBlocks } from "./blocks.js";
import { showBlame, showHistory } from "./charts.js";
import "./control.js";
import { byId, duration, element, facts, fixed, measured, percent, ratio, rows, size, timeUnit } from "./format.js";
import { showLanes } from "./lanes.js";

const EVERY_MS = 1000;

let seen = null;

const ask = async (what) => {
  const answer = await fetch(`api/${what}`, { signal: AbortSignal.timeout(30_000) });
  const { ok, error } = await answer.json();
  if (error !== undefined) throw new Error(error);
  return ok;
};

const last = (values) => (values.length ? values[values.length - 1] : null);

const showAbout = (status) => {
  byId("device").textContent = status.device;
  byId("version").textContent = status.floatgate;
  document.title = `${status.device} – Floatgate`;
  const where = status.image ?? "in memory";
  const parts = [size(status.bytes), where, `timing ${status.timing}`, `up ${duration(status.uptime_s)}`];
  if (status.record) parts.push(`${fixed(status.record.requests)} requests recorded`);
  if (status.failure) parts.push("failed");
  if (status.aged) parts.push("aged before its first client");
  if (status.faults.read_error_share > 0) parts.push(`${percent(status.faults.read_error_share)} of reads fail`);
  if (status.faults.read_only) parts.push("read-only");
  byId("about").textContent = parts.join(" · ");
};

/** Shows how many warnings there are; their texts unfold. A drive that fails has a red pill. */
const showWarnings = (status) => {
  const said = ({ result, failure }) => (result ? result.warnings : [`it has failed: ${failure}`]);
  const beside = status.also.flatMap((one) => said(one).map((text) => `also ${one.name}: ${text}`));
  const { critical_warnings: critical } = status.smart;
  const warnings = [...new Set([...status.warnings, ...critical, ...status.result.warnings, ...beside])];
  const pill = byId("warnings");
  pill.hidden = warnings.length === 0;
  pill.className = `pill ${status.failure || critical.length ? "red" : "amber"}`;
  // The texts change rarely. Replaced every second, they could not be selected.
  if (pill.dataset.key === warnings.join("\n")) return;
  pill.dataset.key = warnings.join("\n");
  const words = `${fixed(warnings.length)} warning${warnings.length === 1 ? "" : "s"}`;
  pill.querySelector("summary").textContent = words;
  byId("warnings-list").replaceChildren(...warnings.map((text) => element("li", {}, text)));
};

/** The number of zones in each state that has any. */
const zonesByState = ({ states }) =>
  Object.entries(states).filter(([, zones]) => zones > 0).map(([state, zones]) => `${fixed(zones)} ${state.replace("_", " ")}`).join(", ");

const showTiles = ({ result, history, server, page_bytes: page, free_units: free, zones }) => {
  const programs = Object.values(result.flash.programs).reduce((sum, pages) => sum + pages, 0);
  facts(byId("tiles"), [
    ["Write amplification now", ratio(last(history.write_amplification))],
    ["Since the last reset", ratio(result.write_amplification)],
    ["Host, MB/s", measured(last(history.host_mb_s))],
    ["Requests/s", measured(last(history.requests_s))],
  ]);
  facts(byId("counts"), [
    ["Written by the host", size(result.workload.write_bytes)],
    ["Written to flash", size(programs * page)],
    ["Map hits", percent(result.mapping.hit_ratio)],
    ["Free units", `${fixed(free)} of ${fixed(result.drive.units + result.drive.reserve_units + result.drive.slc_units)}`],
    ["Clients", fixed(server.connections)],
    ["Under way", fixed(server.in_flight)],
    ...(zones ? [[`Zones of ${size(zones.capacity_bytes)}`, zonesByState(zones)]] : []),
  ]);
};

const showRoom = ({ cleaning_begins_after_bytes: room }) => {
  byId("room").hidden = room === null;
  if (room !== null) byId("room").textContent = `cleaning begins after ${size(room)} more`;
};

/** The unit of the times that the page shows of a drive. */
const unitOf = ({ server, result }) => {
  const modelled = [result.latency.read, result.latency.write];
  const longest = [server.latency_us.read, server.latency_us.write].map(({ max }) => max);
  return timeUnit(Math.max(0, ...longest, ...modelled.map((one) => one.max_us ?? 0)));
};

const inUnit = (us, unit) => measured(us === null || us === undefined ? us : us / unit.us);

const times = (name, { count, mean, p50, p99, p999, max }, unit) =>
  [name, fixed(count), ...[mean, p50, p99, p999, max].map((us) => inUnit(us, unit))];

const modelled = (name, of, unit) =>
  times(name, { count: of.requests, mean: of.mean_us, p50: of.p50_us, p99: of.p99_us, p999: of.p999_us, max: of.max_us }, unit);

const showTimes = ({ server, result, timing }, unit) => {
  const isTimed = timing !== "none";
  const how = isTimed ? "as measured" : "of this machine";
  const { read, write } = server.latency_us;
  const table = [times(`Reads, ${how}`, read, unit), times(`Writes, ${how}`, write, unit)];
  if (isTimed) {
    const of = result.latency;
    table.push(modelled("Reads, as modelled", of.read, unit), modelled("Writes, as modelled", of.write, unit));
  }
  table.push(times("Waiting for the drive's lock", server.lock_wait_us, unit));
  if (server.holding) table.push(times("Error of the reply times", server.holding.error_us, unit));
  byId("time-unit").textContent = unit.name;
  rows(byId("times"), table);
  const holding = byId("holding");
  holding.hidden = isTimed && !server.holding;
  if (!isTimed) {
    holding.textContent = "These times are of this machine, not of the drive: with --timing none a request takes as long as this machine does.";
  } else if (server.holding) {
    holding.textContent = `${percent(server.holding.late_share)} of the replies came more than a tenth later than the modelled drive `
      + `answers. On average, replies took ${percent(server.holding.mean_excess)} longer: this machine is slower than the drive by that much.`;
  }
  showBlame(isTimed ? result.latency.blame_us : {}, result.config.buffer.scheme, unit);
};

/** How a drive was before the first request. */
const begun = ({ fill }) => (fill === "none" ? "erased" : `start.fill = "${fill}"`);

const showShadows = ({ also, device, result }, unit) => {
  byId("also-unit").textContent = unit.name;
  byId("also-part").hidden = also.length === 0;
  const sum = (counts) => Object.values(counts).reduce((whole, one) => whole + one, 0);
  const row = (name, of, behind) => [
    name, begun(of.start), ratio(of.write_amplification), size(sum(of.flash.programs) * of.drive.page_bytes), fixed(sum(of.flash.erases)),
    percent(of.mapping.hit_ratio), inUnit(of.latency.all.p99_us, unit), behind,
  ];
  const beside = (one) => (one.result ? row(one.name, one.result, fixed(one.behind)) : [one.name, "failed", "–", "–", "–", "–", "–", "–"]);
  rows(byId("also"), [row(`${device} (this drive)`, result, "–"), ...also.map(beside)]);
};

const showSmart = ({ smart, power }) => {
  const used = smart.percentage_used === null ? "–" : `${measured(smart.percentage_used)} %`;
  facts(byId("smart"), [
    ["Written by the host, ever", size(smart.host_bytes_written)],
    ["Read by the host, ever", size(smart.host_bytes_read)],
    ["Written to flash, ever", size(smart.media_bytes_written)],
    ["Write amplification, ever", ratio(smart.write_amplification)],
    ["Written to flash, with ageing", size(smart.lifetime_media_bytes_written)],
    ["Available spare", `${measured(smart.available_spare_percent)} % (warns below ${smart.available_spare_threshold_percent} %)`],
    ["Used", `${used} of ${fixed(smart.endurance_erases)} erases`],
    ["Erases of a unit", `${fixed(smart.erases_min)} to ${fixed(smart.erases_max)}, mean ${measured(smart.erases_mean)}`],
    ["Unsafe shutdowns", fixed(smart.unsafe_shutdowns)],
    ["Media errors", fixed(smart.media_errors)],
    ["Plug pulled, this session", fixed(power.cuts)],
  ]);
};

const lanes = async (status) => {
  const isTimed = status.timing !== "none";
  byId("lanes-part").hidden = !isTimed;
  if (!isTimed || byId("hold").checked) return;
  const found = await ask(`lanes?window_ms=${byId("window").value}`);
  showLanes(found.lanes, status.result.dies.idle.length, status.result.channels.idle.length);
};

const show = (status) => {
  showAbout(status);
  showWarnings(status);
  showTiles(status);
  showRoom(status);
  const unit = unitOf(status);
  showHistory(status.history, status.timing, unit);
  showTimes(status, unit);
  showShadows(status, unit);
  showSmart(status);
};

const turn = async () => {
  if (document.hidden) return;
  const gone = byId("gone");
  try {
    const status = await ask("status");
    show(status);
    showBlocks(await ask("blocks"));
    await lanes(status);
    seen = new Date();
    gone.hidden = true;
    document.body.classList.remove("gone");
    document.documentElement.dataset.shown = String(Number(document.documentElement.dataset.shown ?? 0) + 1);
  } catch (error) {
    const since = seen ? ` The values below are from ${seen.toLocaleTimeString()}.` : "";
    const why = error instanceof TypeError || error.name === "TimeoutError" ? "" : ` (${error.message})`;
    gone.textContent = `The server does not answer${why}.${since} The page asks again every second.`;
    gone.hidden = false;
    document.body.classList.add("gone");
  }
};

const run = async () => {
  await turn();
  setTimeout(run, EVERY_MS);
};

document.addEventListener("visibilitychange", turn);
run();
