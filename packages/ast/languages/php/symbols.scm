; One name, one declaration: where several patterns match, the first in this file wins.

(namespace_definition name: (_) @name body: (_) @body) @def.module
(namespace_definition name: (_) @name !body (#set! rest "yes")) @def.module
(class_declaration name: (_) @name body: (_) @body) @def.class
(interface_declaration name: (_) @name body: (_) @body) @def.interface
(trait_declaration name: (_) @name body: (_) @body) @def.trait
(enum_declaration name: (_) @name body: (_) @body) @def.enum
(function_definition name: (_) @name body: (_) @body) @def.fn

; members
(method_declaration name: (_) @name body: (_)? @body) @def.method
(property_declaration (property_element name: (variable_name (name) @name)) @def.field)
(property_promotion_parameter name: (variable_name (name) @name)) @def.field @lift
(enum_case name: (_) @name) @def.variant
(const_declaration (const_element . (name) @name) @def.const)

; constants and variables
((function_call_expression function: (name) @_define arguments: (arguments . (argument (string) @name))) @def.const (#eq? @_define "define"))
(expression_statement . (assignment_expression left: (variable_name (name) @name)) @def.var) @statement

; tests written as calls
((expression_statement . (function_call_expression function: (name) @_test
    arguments: (arguments . (argument (string) @name) . (argument [(anonymous_function body: (_) @body) (arrow_function body: (_) @body)]))) @def.test) @statement
  (#any-of? @_test "it" "test" "describe"))

; what stands around and before declarations
[(property_declaration) (const_declaration)] @statement
(visibility_modifier) @vis
(attribute_list) @attr
(comment) @comment
[(anonymous_function) (arrow_function)] @local

; references
(function_call_expression function: [(name) @ref.call (qualified_name (name) @ref.call .)])
(member_call_expression name: (name) @ref.call)
(nullsafe_member_call_expression name: (name) @ref.call)
(scoped_call_expression name: (name) @ref.call)
(object_creation_expression [(name) @ref.new (qualified_name (name) @ref.new .)])
(throw_expression "throw" @ref.macro)
(exit_statement "exit" @ref.macro)

; imports
(namespace_use_declaration (namespace_use_clause . (qualified_name prefix: (namespace_name) @import.source (name) @import.name) alias: (_)? @import.alias) @import)
(namespace_use_declaration (namespace_use_clause . (name) @import.source alias: (_)? @import.alias) @import)
(namespace_use_declaration (namespace_name) @import.source body: (namespace_use_group)) @import
(namespace_use_group (namespace_use_clause . [(name) (qualified_name)] @import.name alias: (_)? @import.alias))
[
  (require_expression [(string (string_content) @import.source) (binary_expression right: (string (string_content) @import.source))])
  (require_once_expression [(string (string_content) @import.source) (binary_expression right: (string (string_content) @import.source))])
  (include_expression [(string (string_content) @import.source) (binary_expression right: (string (string_content) @import.source))])
  (include_once_expression [(string (string_content) @import.source) (binary_expression right: (string (string_content) @import.source))])
] @import
