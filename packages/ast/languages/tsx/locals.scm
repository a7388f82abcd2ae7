; on top of TypeScript's
(jsx_text) @text.string
([
  (jsx_opening_element name: (identifier) @notref)
  (jsx_closing_element name: (identifier) @notref)
  (jsx_self_closing_element name: (identifier) @notref)
] (#match? @notref "^[a-z]"))
(jsx_namespace_name (identifier) @notref)
