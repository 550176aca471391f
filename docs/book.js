// Shows the names of files above blocks, and code in comments like code.
"use strict";
for (const code of document.querySelectorAll('pre > code[class*="file="]')) {
    const name = [...code.classList].find((word) => word.startsWith("file=")).slice("file=".length);
    const pre = code.parentElement;
    const before = pre.previousElementSibling;
    if (before && before.textContent.includes(name)) {
        continue;
    }
    const caption = document.createElement("div");
    caption.className = "file-name";
    caption.textContent = name;
    pre.before(caption);
}
for (const comment of document.querySelectorAll(".hljs-comment")) {
    if (comment.textContent.startsWith("#@")) {
        comment.classList.add("template-code");
    }
}
