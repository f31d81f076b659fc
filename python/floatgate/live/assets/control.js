// What changes the drive: each request carries the token that serve has printed.

import { byId } from "./format.js";

const done = byId("done");

// The fragment never left the browser. It goes from the address bar, so that it is not shared.
let token = new URLSearchParams(location.hash.slice(1)).get("token") ?? sessionStorage.getItem("token");
if (location.hash) history.replaceState(null, "", location.pathname);

const enable = () => {
  byId("token-form").hidden = Boolean(token);
  for (const control of byId("controls").querySelectorAll("button, input")) control.disabled = !token;
  if (token) sessionStorage.setItem("token", token);
};

const say = (text, failed) => {
  done.textContent = text;
  done.classList.toggle("failed", failed);
};

const send = async (what, given, words) => {
  say(`${words.doing} …`, false);
  try {
    const answer = await fetch(`api/${what}`, {
      method: "POST",
      headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
      body: JSON.stringify(given),
    });
    const { ok, error } = await answer.json();
    if (answer.status === 403) {
      token = null;
      sessionStorage.removeItem("token");
      enable();
    }
    say(error ?? words.done(ok), error !== undefined);
  } catch {
    say("The server does not answer.", true);
  }
};

byId("plug").addEventListener("click", () => {
  const sure = confirm("Pull the plug? What is not durable is lost, and requests under way fail.");
  if (sure) {
    send("plug", {}, {
      doing: "Pulling the plug",
      done: ({ cuts, mount }) => `The power was cut (${cuts} in all); the drive was found in ${mount.seconds.toFixed(3)} s.`,
    });
  }
});

byId("reset").addEventListener("click", () =>
  send("reset", {}, { doing: "Resetting", done: () => "The counters start anew." }));

byId("check").addEventListener("click", () =>
  send("check", {}, { doing: "Checking", done: () => "The drive found nothing wrong with itself." }));

byId("faults").addEventListener("submit", (event) => {
  event.preventDefault();
  const given = { read_error_share: Number(byId("read-errors").value) / 100, read_only: byId("read-only").checked };
  send("faults", given, {
    doing: "Setting faults",
    done: (faults) => `${faults.read_error_share * 100} % of reads fail; the drive is ${faults.read_only ? "read-only" : "written to"}.`,
  });
});

byId("snapshot").addEventListener("submit", (event) => {
  event.preventDefault();
  send("snapshot", { to: byId("snapshot-to").value }, {
    doing: "Copying",
    done: ({ path, bytes }) => `${bytes.toLocaleString("en")} bytes are in ${path}.`,
  });
});

byId("token-form").addEventListener("submit", (event) => {
  event.preventDefault();
  token = byId("token").value;
  byId("token").value = "";
  say("", false);
  enable();
});

enable();
