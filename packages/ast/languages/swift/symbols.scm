; One name, one declaration: where several patterns match, the first in this file wins.

; types: one node kind, the keyword says which
(class_declaration declaration_kind: "class" name: (type_identifier) @name body: (_) @body) @def.class
(class_declaration declaration_kind: "actor" name: (type_identifier) @name body: (_) @body (#set! subtype "actor")) @def.class
(class_declaration declaration_kind: "struct" name: (type_identifier) @name body: (_) @body) @def.struct
(class_declaration declaration_kind: "enum" name: (type_identifier) @name body: (_) @body) @def.enum
(class_declaration declaration_kind: "extension" name: (_) @name body: (_) @body (#set! subtype "extension")) @def.impl
(protocol_declaration name: (type_identifier) @name body: (_) @body) @def.interface
(typealias_declaration name: (type_identifier) @name) @def.type
(associatedtype_declaration name: (type_identifier) @name) @def.type

; functions and members
(function_declaration . (modifiers)? . "func" . name: _ @name body: (_) @body) @def.fn
(protocol_function_declaration name: (simple_identifier) @name) @def.method
(init_declaration name: "init" @name body: (_)? @body) @def.method
(deinit_declaration "deinit" @name body: (_) @body) @def.method
(subscript_declaration "subscript" @name (computed_property) @body) @def.method
(macro_declaration (simple_identifier) @name) @def.macro
(enum_entry name: (simple_identifier) @name (#set! vis "public")) @def.variant
(protocol_property_declaration name: (pattern bound_identifier: (simple_identifier) @name)) @def.field
(property_declaration name: (pattern bound_identifier: (simple_identifier) @name) computed_value: (_) @body) @def.var
(property_declaration name: (pattern bound_identifier: (simple_identifier) @name)) @def.var
(property_declaration name: (pattern (pattern (simple_identifier) @name @def.var)))

; what stands around and before declarations
((property_declaration (value_binding_pattern mutability: "let")) @statement (#set! type "const"))
(visibility_modifier) @vis
(class_declaration (modifiers (visibility_modifier) @section) declaration_kind: "extension")
(modifiers (attribute) @attr)
[(comment) (multiline_comment)] @comment
[(lambda_literal) (computed_property) (willset_didset_block)] @local

; references
(call_expression . [
  (simple_identifier) @ref.call
  (navigation_expression suffix: (navigation_suffix suffix: (simple_identifier) @ref.call))])
(macro_invocation (simple_identifier) @ref.macro)
(postfix_expression operation: (bang) @ref.macro)
((try_operator) @ref.macro (#eq? @ref.macro "try!"))
(throw_keyword) @ref.macro

; imports
(import_declaration (identifier) @import.source) @import
