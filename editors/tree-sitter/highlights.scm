; Comments that are no comments: annotations and code of ytt. Load it after the highlights of YAML.

((comment) @attribute
  (#match? @attribute "^#@[a-z]"))

((comment) @comment
  (#match? @comment "^#!"))
