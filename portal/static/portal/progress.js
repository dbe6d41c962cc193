// Ask a running task for its progress every two seconds, and load the page again when it has ended.
"use strict";

document.addEventListener("DOMContentLoaded", () => {
  for (const box of document.querySelectorAll("[data-progress]")) {
    follow(box);
  }
});

function follow(box) {
  const ask = async () => {
    try {
      const answer = await fetch(box.dataset.progress, { headers: { Accept: "application/json" } });
      if (answer.ok) {
        const progress = await answer.json();
        if (progress.ended) {
          window.location.reload();
          return;
        }
        show(box, progress);
      }
    } catch {
      // The server is restarting or the network is away: the next round asks again.
    }
    window.setTimeout(ask, 2000);
  };
  window.setTimeout(ask, 1000);
}

function show(box, progress) {
  const bar = box.querySelector("progress");
  const words = box.querySelector("[data-words]");
  if (words && words.textContent !== progress.words) {
    words.textContent = progress.words;
  }
  if (bar && progress.total > 0) {
    bar.max = progress.total;
    bar.value = progress.done;
  }
  const list = box.querySelector("[data-rows]");
  if (list && progress.rows) {
    list.replaceChildren(...progress.rows.map(entry));
  }
}

function entry(row) {
  const [item, badge, name] = ["li", "span", "span"].map((tag) => document.createElement(tag));
  badge.className = `ep-badge ep-${row.tone}`;
  badge.textContent = row.words;
  name.className = "ep-path";
  name.textContent = row.name;
  item.append(badge, " ", name);
  return item;
}
