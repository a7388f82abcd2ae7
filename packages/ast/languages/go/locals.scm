; names: one space for types, values and packages
([(identifier) (type_identifier) (package_identifier)] @token (#set! space "any"))
((field_identifier) @token (#set! role "member"))
[(interpreted_string_literal_content) (raw_string_literal_content) (rune_literal)] @text.string
(comment) @text.comment

; scopes
(source_file) @scope.module
[(function_declaration) (method_declaration) (func_literal) (function_type) (method_elem)] @scope.function
[
  (block) (if_statement) (for_statement) (expression_switch_statement) (type_switch_statement) (select_statement)
  (expression_case) (type_case) (default_case) (communication_case) (type_spec) (type_alias)
] @scope.block

; declarations; inside of functions a name is known from the end of its declaration on
(function_declaration name: (identifier) @def.outer)
(type_spec name: (type_identifier) @def.outer @after (#set! after "function block"))
(type_alias name: (type_identifier) @def.outer @after (#set! after "function block"))
((const_spec (identifier) @def) @after (#set! after "function block") (#set! unless "^_$"))
((var_spec (identifier) @def) @after (#set! after "function block") (#set! unless "^_$"))
((short_var_declaration left: (expression_list (identifier) @def)) @after (#set! after "function block") (#set! unless "^_$"))
((range_clause left: (expression_list (identifier) @def) ":=") @after (#set! after "function block") (#set! unless "^_$"))
((receive_statement left: (expression_list (identifier) @def) ":=") @after (#set! after "function block") (#set! unless "^_$"))
(type_switch_statement alias: (expression_list (identifier) @def) value: (_) @after (#set! after "block"))
(parameter_declaration name: (identifier) @def (#set! unless "^_$"))
(variadic_parameter_declaration name: (identifier) @def (#set! unless "^_$"))
(type_parameter_declaration name: (identifier) @def)
(method_declaration receiver: (parameter_list (parameter_declaration type: [
    (generic_type type_arguments: (type_arguments (type_elem (type_identifier) @def)))
    (pointer_type (generic_type type_arguments: (type_arguments (type_elem (type_identifier) @def))))
  ])))
(import_spec name: (package_identifier) @def)
(package_clause (package_identifier) @notref)

; members
(selector_expression operand: (_) @object field: (_) @member)
(qualified_type package: (_) @object name: (_) @member)

; packages
(package_clause (package_identifier) @link.name (#set! link "package"))
(import_spec !name path: (interpreted_string_literal (interpreted_string_literal_content) @link.source) (#set! link "import"))
(import_spec name: (package_identifier) @link.local path: (interpreted_string_literal (interpreted_string_literal_content) @link.source) (#set! link "import"))
(import_spec name: (blank_identifier) path: (interpreted_string_literal (interpreted_string_literal_content) @link.source) (#set! link "blank"))
(import_spec name: (dot) path: (interpreted_string_literal (interpreted_string_literal_content) @link.source) (#set! link "dot"))

; keys of literals: fields of a struct, or expressions; the type tells
(keyed_element key: (literal_element (identifier) @link.name) (#set! link "key"))
(composite_literal type: [(map_type) (slice_type) (array_type) (implicit_length_array_type)] body: (literal_value (keyed_element key: (literal_element (identifier) @link.name))) (#set! link "key-expression"))
(composite_literal type: [(type_identifier) (qualified_type)] @link.type body: (literal_value (keyed_element key: (literal_element (identifier) @link.name))) (#set! link "key"))
(composite_literal type: (generic_type type: (_) @link.type) body: (literal_value (keyed_element key: (literal_element (identifier) @link.name))) (#set! link "key"))
(composite_literal
  type: [
    (slice_type element: [(type_identifier) @link.type (qualified_type) @link.type (pointer_type (_) @link.type)])
    (array_type element: [(type_identifier) @link.type (qualified_type) @link.type (pointer_type (_) @link.type)])
    (implicit_length_array_type element: [(type_identifier) @link.type (qualified_type) @link.type (pointer_type (_) @link.type)])
    (map_type value: [(type_identifier) @link.type (qualified_type) @link.type (pointer_type (_) @link.type)])
  ]
  body: (literal_value [
    (literal_element (literal_value (keyed_element key: (literal_element (identifier) @link.name))))
    (keyed_element value: (literal_element (literal_value (keyed_element key: (literal_element (identifier) @link.name)))))
  ]) (#set! link "key"))
(composite_literal
  type: [
    (slice_type element: (struct_type)) (array_type element: (struct_type)) (implicit_length_array_type element: (struct_type)) (map_type value: (struct_type))
  ]
  body: (literal_value [
    (literal_element (literal_value (keyed_element key: (literal_element (identifier) @link.name))))
    (keyed_element value: (literal_element (literal_value (keyed_element key: (literal_element (identifier) @link.name)))))
  ]) (#set! link "key-field"))
(composite_literal type: (struct_type) body: (literal_value (keyed_element key: (literal_element (identifier) @link.name))) (#set! link "key-field"))
(type_spec name: (type_identifier) @link.name type: (struct_type) (#set! link "struct"))
(type_spec name: (type_identifier) @link.name type: [(map_type) (slice_type) (array_type)] (#set! link "indexed"))
(field_declaration !name type: [(type_identifier) @link.name (qualified_type name: (_) @link.name) (generic_type type: (type_identifier) @link.name)] (#set! link "embedded"))
