; Code in comments of YAML: `#@ code`, `key: #@ value` and the arguments of annotations are Starlark.
; For Neovim: queries/yaml/injections.scm with "; extends" in front. For Helix: runtime/queries/ytt/injections.scm.

((comment) @injection.content
  (#match? @injection.content "^#@ ")
  (#offset! @injection.content 0 3 0 0)
  (#set! injection.language "starlark"))

((comment) @injection.content
  (#match? @injection.content "^#@[a-z]+/[a-z-]+ ")
  (#set! injection.language "starlark"))
