; One name, one declaration: where several patterns match, the first in this file wins.

; default exports without a name
(export_statement . "export" . "default" @name . value: (function_expression !name body: (_) @body)) @def.fn
(export_statement . "export" . "default" @name . value: (arrow_function body: (_) @body)) @def.fn
(export_statement . "export" . "default" @name . value: (class !name body: (_) @body)) @def.class
(export_statement . "export" . "default" @name . value: [(object) (array) (call_expression) (new_expression) (as_expression) (satisfies_expression)]) @def.const

; functions
(function_declaration name: (_) @name body: (_) @body) @def.fn
(generator_function_declaration name: (_) @name body: (_) @body) @def.fn
(function_signature name: (_) @name) @def.fn
(variable_declarator name: (identifier) @name value: [(arrow_function body: (_) @body) (function_expression body: (_) @body) (generator_function body: (_) @body)]) @def.fn

; types
(class_declaration name: (_) @name body: (_) @body) @def.class
(abstract_class_declaration name: (_) @name body: (_) @body) @def.class
(variable_declarator name: (identifier) @name value: (class body: (_) @body)) @def.class
(interface_declaration name: (_) @name body: (_) @body) @def.interface
(enum_declaration name: (_) @name body: (_) @body) @def.enum
(type_alias_declaration name: (_) @name) @def.type
(module name: (_) @name body: (_) @body) @def.module
(internal_module name: (_) @name body: (_) @body) @def.module

; members
(method_definition name: (_) @name body: (_) @body) @def.method
["get" "set"] @subtype
(method_signature name: (_) @name) @def.method
(abstract_method_signature name: (_) @name) @def.method
(property_signature name: (_) @name) @def.field
(public_field_definition name: (_) @name value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @def.method
(public_field_definition name: (_) @name) @def.field
; constructor properties belong to the class
(required_parameter [(accessibility_modifier) (override_modifier) "readonly"] pattern: (identifier) @name) @def.field @lift
(optional_parameter [(accessibility_modifier) (override_modifier) "readonly"] pattern: (identifier) @name) @def.field @lift
(pair key: (_) @name value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @def.method
(enum_assignment name: (_) @name) @def.variant
(enum_body name: (_) @name @def.variant)

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
(ambient_declaration) @statement
(lexical_declaration kind: "const" (#set! type "const")) @statement
(lexical_declaration kind: "let") @statement
(variable_declaration) @statement
(export_statement value: (identifier) @export.name)
(export_statement . "export" . "=" . (identifier) @export.name)
[(arrow_function) (function_expression) (generator_function)] @local
(accessibility_modifier) @vis
(decorator) @attr
(comment) @comment

; references
(call_expression function: [(identifier) @ref.call (member_expression property: [(property_identifier) (private_property_identifier)] @ref.call)])
(new_expression constructor: [(identifier) @ref.new (member_expression property: (property_identifier) @ref.new)])
(non_null_expression "!" @ref.macro)
(throw_statement "throw" @ref.macro)

; imports: the statement with its source, then the names in it
(import_statement source: (string (string_fragment) @import.source)) @import
(import_statement . "import" . "type" @import.type . (import_clause) source: (string (string_fragment) @import.source)) @import
(import_clause (identifier) @import.alias (#set! import.name "default"))
(namespace_import (identifier) @import.alias) @import.star
(import_specifier "type"? @import.type name: (_) @import.name alias: (_)? @import.alias)
(import_statement (import_require_clause (identifier) @import.alias source: (string (string_fragment) @import.source))) @import
(export_statement source: (string (string_fragment) @import.source) (#set! import.reexport "yes")) @import
(export_specifier "type"? @import.type name: (_) @import.name @export.name alias: (_)? @import.alias)
(export_statement . "export" . "*" @import.star)
(namespace_export (_) @import.alias) @import.star
(call_expression function: (import) arguments: (arguments . (string (string_fragment) @import.source))) @import
((call_expression function: (identifier) @_require arguments: (arguments . (string (string_fragment) @import.source))) @import (#eq? @_require "require"))
