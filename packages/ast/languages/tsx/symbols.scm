; After the queries of TypeScript: a component in JSX is called, a plain tag is not.
((jsx_opening_element name: (identifier) @ref.call) (#match? @ref.call "^[A-Z]"))
((jsx_self_closing_element name: (identifier) @ref.call) (#match? @ref.call "^[A-Z]"))
(jsx_opening_element name: (member_expression property: (property_identifier) @ref.call))
(jsx_self_closing_element name: (member_expression property: (property_identifier) @ref.call))
