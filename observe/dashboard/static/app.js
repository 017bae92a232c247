// What the pages do beside showing: look again, times in the reader's zone, theme, keys, copy, tabs.
"use strict";
(() => {
  const root = document.documentElement;
  const state = document.querySelector("[data-live-state]");
  let pause = false, pressedG = 0, timer = 0;

  const theme = localStorage.getItem("pgsb-theme");
  if (theme) root.dataset.theme = theme;
  const switchTheme = () => {
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    localStorage.setItem("pgsb-theme", root.dataset.theme);
  };
  document.querySelector("[data-theme-switch]").addEventListener("click", switchTheme);

  const format = new Intl.DateTimeFormat(undefined, { dateStyle: "short", timeStyle: "medium" });
  const clock = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" });
  const localTimes = (within) => {
    for (const one of within.querySelectorAll("time[datetime]")) {
      one.title = one.getAttribute("datetime");
      one.textContent = format.format(new Date(one.getAttribute("datetime")));
    }
    for (const one of within.querySelectorAll("text[data-time]")) one.textContent = clock.format(new Date(one.dataset.time));
  };
  localTimes(document);

  // Parts marked data-live are exchanged by their id; what is open stays open, and what has the focus is left alone.
  const exchange = (fresh) => {
    for (const part of document.querySelectorAll("[data-live]")) {
      const other = fresh.getElementById(part.id);
      if (!other || part.contains(document.activeElement) || String(getSelection()) && part.contains(getSelection().anchorNode)) continue;
      for (const open of part.querySelectorAll("details[data-keep][open]")) {
        const same = other.querySelector(`details[data-keep="${CSS.escape(open.dataset.keep)}"]`);
        if (same) same.open = true;
      }
      for (const tab of part.querySelectorAll('[data-tab][aria-pressed="true"]')) {
        const at = [...part.querySelectorAll("[data-tabs]")].indexOf(tab.parentElement);
        const tabs = other.querySelectorAll("[data-tabs]")[at];
        if (tabs) choose(tabs, tab.dataset.tab);
      }
      localTimes(other);
      if (part.innerHTML !== other.innerHTML) part.replaceChildren(...other.childNodes);
    }
    document.body.dataset.refresh = fresh.body.dataset.refresh;
  };
  const say = (text, css) => { state.textContent = text; state.className = `live ${css}`; };
  const look = async () => {
    clearTimeout(timer);
    if (!document.querySelector("[data-live]")) { say("", "waits"); state.hidden = true; return; }
    if (!pause && !document.hidden) {
      try {
        const answer = await fetch(location.href, { headers: { Accept: "text/html" }, redirect: "error" });
        if (!answer.ok) throw new Error(answer.status === 503 ? "the database does not answer" : `status ${answer.status}`);
        exchange(new DOMParser().parseFromString(await answer.text(), "text/html"));
        say("live", "");
      } catch (error) {
        say(error.message.startsWith("the ") ? error.message : "no answer", "lost");
      }
    }
    timer = setTimeout(look, Number(document.body.dataset.refresh));
  };
  timer = setTimeout(look, Number(document.body.dataset.refresh));
  document.addEventListener("visibilitychange", () => { if (!document.hidden) look(); });
  if (!document.querySelector("[data-live]")) state.hidden = true;

  const choose = (tabs, name) => {
    for (const tab of tabs.querySelectorAll("[data-tab]")) tab.setAttribute("aria-pressed", String(tab.dataset.tab === name));
    for (const form of tabs.parentElement.querySelectorAll("[data-form]")) form.hidden = form.dataset.form !== name;
  };
  document.addEventListener("click", async (event) => {
    const target = event.target.closest("[data-copy], [data-tab]");
    if (!target) return;
    if (target.dataset.tab) return choose(target.closest("[data-tabs]"), target.dataset.tab);
    await navigator.clipboard.writeText(target.dataset.copy);
    target.textContent = "Copied";
    setTimeout(() => { target.textContent = "Copy"; }, 1500);
  });
  document.addEventListener("submit", (event) => {
    const question = event.target.dataset.confirm;
    if (question && !confirm(question)) event.preventDefault();
  });
  document.addEventListener("change", (event) => {
    if (event.target.matches("[data-go]")) location.href = event.target.value;
    if (event.target.matches("[data-tick-all]")) {
      for (const box of event.target.closest("section").querySelectorAll('input[name="group"]')) box.checked = event.target.checked;
    }
    const count = document.querySelector("[data-ticked]");
    if (count) {
      const ticked = document.querySelectorAll('input[name="group"]:checked').length;
      count.textContent = ticked ? `${ticked} ticked` : "Tick groups below";
    }
  });

  const rows = () => [...document.querySelectorAll("tr[data-row]")];
  const step = (by) => {
    const all = rows();
    const at = all.findIndex((row) => row.contains(document.activeElement));
    const next = all[Math.max(0, Math.min(all.length - 1, at < 0 ? 0 : at + by))];
    const link = next && next.querySelector("a");
    if (link) { link.focus(); next.scrollIntoView({ block: "nearest" }); }
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input, select, textarea")) return;
    if (Date.now() - pressedG < 1500) {
      const link = document.querySelector(`nav a[data-key="${CSS.escape(event.key)}"]`);
      pressedG = 0;
      if (link) { location.href = link.href; return; }
    }
    const keys = document.getElementById("keys");
    switch (event.key) {
      case "g": pressedG = Date.now(); break;
      case "/": { const field = document.querySelector("[data-search]"); if (field) { event.preventDefault(); field.focus(); } break; }
      case "?": keys.showModal(); break;
      case "j": step(1); break;
      case "k": step(-1); break;
      case "r": look(); break;
      case "p": pause = !pause; if (pause) say("paused", "waits"); else look(); break;
      case "d": switchTheme(); break;
    }
  });
})();
