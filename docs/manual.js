// Shows the names of files above blocks, and code in comments like code; mends links that are right on a code host.
// It must not be called book.js: mdBook has a file of that name, which the copy of this one would replace.
"use strict";
(() => {
    for (const code of document.querySelectorAll('pre > code[class*="file="]')) {
        const name = [...code.classList].find((word) => word.startsWith("file=")).slice("file=".length);
        const pre = code.parentElement;
        const before = pre.previousElementSibling;
        if (before && before.textContent.trim() === `${name}:`) {
            before.classList.add("file-name");
            continue;
        }
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
    // The book has README.md as index.html, and nothing outside of docs/.
    const root = new URL(typeof path_to_root === "undefined" ? "." : path_to_root || ".", document.location).href;
    for (const link of document.querySelectorAll("main a[href]")) {
        if (link.protocol !== document.location.protocol || link.host !== document.location.host) {
            continue;
        }
        if (link.href.startsWith(root)) {
            link.href = link.href.replace(/README\.html(?=$|#)/, "index.html");
        } else {
            link.replaceWith(...link.childNodes, " (in the repository)");
        }
    }
})();
