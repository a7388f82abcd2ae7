; One name, one declaration: where several patterns match, the first in this file wins.

; default exports without a name
(export_statement . "export" . "default" @name . value: (function_expression !name body: (_) @body)) @def.fn
(export_statement . "export" . "default" @name . value: (arrow_function body: (_) @body)) @def.fn
(export_statement . "export" . "default" @name . value: (class !name body: (_) @body)) @def.class
(export_statement . "export" . "default" @name . value: [(object) (array) (call_expression) (new_expression)]) @def.const

; functions
(function_declaration name: (_) @name body: (_) @body) @def.fn
(generator_function_declaration name: (_) @name body: (_) @body) @def.fn
(variable_declarator name: (identifier) @name value: [(arrow_function body: (_) @body) (function_expression body: (_) @body) (generator_function body: (_) @body)]) @def.fn

; classes, also by prototype and by exports
(class_declaration name: (_) @name body: (_) @body) @def.class
(variable_declarator name: (identifier) @name value: (class body: (_) @body)) @def.class
((expression_statement . (assignment_expression
    left: (member_expression object: (member_expression object: (identifier) @container property: (property_identifier) @_prototype) property: (property_identifier) @name)
    right: [(function_expression body: (_) @body) (arrow_function body: (_) @body)]) @def.method) @statement
  (#eq? @_prototype "prototype"))
((expression_statement . (assignment_expression
    left: (member_expression object: [(identifier) @_exports (member_expression property: (property_identifier) @_exports)] property: (property_identifier) @name @export.name)
    right: [(function_expression body: (_) @body) (arrow_function body: (_) @body)]) @def.fn) @statement
  (#eq? @_exports "exports"))
((assignment_expression
    left: (member_expression object: [(identifier) @_exports (member_expression property: (property_identifier) @_exports)] property: (property_identifier) @export.name))
  (#eq? @_exports "exports"))
((expression_statement . (assignment_expression
    left: (member_expression object: (identifier) @_module property: (property_identifier) @_exports)
    right: [(function_expression name: (identifier) @name @export.name body: (_) @body) (generator_function name: (identifier) @name @export.name body: (_) @body)]) @def.fn) @statement
  (#eq? @_module "module") (#eq? @_exports "exports"))
((expression_statement . (assignment_expression
    left: (member_expression object: (identifier) @_module property: (property_identifier) @_exports)
    right: (class name: (identifier) @name @export.name body: (_) @body)) @def.class) @statement
  (#eq? @_module "module") (#eq? @_exports "exports"))
((assignment_expression
    left: (member_expression object: (identifier) @_module property: (property_identifier) @_exports)
    right: (object [(method_definition name: (property_identifier) @export.name)
      (pair key: (property_identifier) @export.name value: [(arrow_function) (function_expression)])]))
  (#eq? @_module "module") (#eq? @_exports "exports"))
((expression_statement . (assignment_expression
    left: (member_expression object: (identifier) @container property: (property_identifier) @name)
    right: [(function_expression body: (_) @body) (arrow_function body: (_) @body)]) @def.method) @statement
  (#not-any-of? @container "exports" "module") (#set! outside "yes"))
((expression_statement . (assignment_expression
    left: (member_expression object: (identifier) @container property: (property_identifier) @name)) @def.field) @statement
  (#match? @container "^[A-Z]") (#not-eq? @name "prototype") (#set! outside "yes"))
((assignment_expression
    left: (member_expression object: (identifier) @_module property: (property_identifier) @_exports)
    right: [(identifier) @export.name (object [(shorthand_property_identifier) @export.name (pair value: (identifier) @export.name)])])
  (#eq? @_module "module") (#eq? @_exports "exports"))

; members
(method_definition name: (_) @name body: (_) @body) @def.method
["get" "set"] @subtype
(field_definition property: (_) @name value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @def.method
(field_definition property: (_) @name) @def.field
(pair key: (_) @name value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @def.method

; constants and variables
(variable_declarator name: (identifier) @name) @def.var
(variable_declarator name: [(object_pattern) (array_pattern)] @bind
  (#set! leaf "identifier shorthand_property_identifier_pattern") (#set! skip "key right"))

; tests
((expression_statement . (call_expression
    function: [(identifier) @_test (member_expression object: (identifier) @_test) (call_expression function: (member_expression object: (identifier) @_test))]
    arguments: (arguments . [(string) (template_string)] @name [(arrow_function body: (_) @body) (function_expression body: (_) @body)])) @def.test) @statement
  (#any-of? @_test "describe" "it" "test" "suite" "context" "bench"))

; what stands around and before declarations
(export_statement) @export
(lexical_declaration kind: "const" (#set! type "const")) @statement
(lexical_declaration kind: "let") @statement
(variable_declaration) @statement
(export_statement value: (identifier) @export.name)
[(arrow_function) (function_expression) (generator_function)] @local
(decorator) @attr
(comment) @comment

; references
(call_expression function: [(identifier) @ref.call (member_expression property: [(property_identifier) (private_property_identifier)] @ref.call)])
(new_expression constructor: [(identifier) @ref.new (member_expression property: (property_identifier) @ref.new)])
(throw_statement "throw" @ref.macro)
((jsx_opening_element name: (identifier) @ref.call) (#match? @ref.call "^[A-Z]"))
((jsx_self_closing_element name: (identifier) @ref.call) (#match? @ref.call "^[A-Z]"))
(jsx_opening_element name: (member_expression property: (property_identifier) @ref.call))
(jsx_self_closing_element name: (member_expression property: (property_identifier) @ref.call))

; imports: the statement with its source, then the names in it
(import_statement source: (string (string_fragment) @import.source)) @import
(import_clause (identifier) @import.alias (#set! import.name "default"))
(namespace_import (identifier) @import.alias) @import.star
(import_specifier name: (_) @import.name alias: (_)? @import.alias)
(export_statement source: (string (string_fragment) @import.source) (#set! import.reexport "yes")) @import
(export_specifier name: (_) @import.name @export.name alias: (_)? @import.alias)
(export_statement . "export" . "*" @import.star)
(namespace_export (_) @import.alias) @import.star
(call_expression function: (import) arguments: (arguments . (string (string_fragment) @import.source))) @import
((call_expression function: (identifier) @_require arguments: (arguments . (string (string_fragment) @import.source))) @import (#eq? @_require "require"))
