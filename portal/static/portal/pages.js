// Small comforts of our pages; every page works without them.
"use strict";

document.addEventListener("DOMContentLoaded", () => {
  showFirstPassage();
  goToLine();
  warnUnsaved();
});

// Bring the quoted passage into view inside its own scrolling window.
function showFirstPassage() {
  for (const box of document.querySelectorAll("[data-scroll-to]")) {
    const place = box.querySelector(`#${CSS.escape(box.dataset.scrollTo)}`);
    if (place) {
      box.scrollTop += place.getBoundingClientRect().top - box.getBoundingClientRect().top - 24;
    }
  }
}

// A problem that names a line puts the cursor there.
function goToLine() {
  for (const link of document.querySelectorAll("a[data-line]")) {
    link.addEventListener("click", (event) => {
      const editor = document.querySelector("textarea.ep-editor");
      if (!editor) {
        return;
      }
      event.preventDefault();
      const lines = editor.value.split("\n");
      const line = Math.min(Number(link.dataset.line), lines.length);
      const start = lines.slice(0, line - 1).join("\n").length + (line > 1 ? 1 : 0);
      editor.focus();
      editor.setSelectionRange(start, start + lines[line - 1].length);
      editor.scrollTop = Math.max(0, (editor.scrollHeight / lines.length) * (line - 4));
    });
  }
}

// Leaving with unsaved words asks first.
function warnUnsaved() {
  for (const form of document.querySelectorAll("form[data-warn-unsaved]")) {
    let changed = false;
    form.addEventListener("input", () => { changed = true; });
    form.addEventListener("submit", () => { changed = false; });
    window.addEventListener("beforeunload", (event) => {
      if (changed) {
        event.preventDefault();
      }
    });
  }
}
