; One name, one declaration: where several patterns match, the first in this file wins.

; types: the keyword before the name says which
(class_declaration "interface" name: (_) @name (class_body)? @body) @def.interface
(class_declaration (modifiers (class_modifier "enum")) name: (_) @name (enum_class_body)? @body) @def.enum
(class_declaration "class" name: (_) @name (class_body)? @body) @def.class
((class_declaration (modifiers (class_modifier) @subtype)) (#not-eq? @subtype "enum"))
(object_declaration name: (_) @name (class_body)? @body (#set! subtype "object")) @def.class
(companion_object name: (_) @name (class_body)? @body (#set! subtype "companion")) @def.class
(companion_object !name "companion" (class_body)? @body (#set! name "Companion") (#set! subtype "companion")) @def.class
(type_alias type: (identifier) @name) @def.type

; functions; an extension belongs to the type it extends
(object_literal (class_body (function_declaration name: (_) @name (function_body)? @body) @def.method))
(enum_entry (class_body (function_declaration name: (_) @name (function_body)? @body) @def.method))
(function_declaration (user_type (identifier)+ @container) . "." . name: (_) @name (function_body)? @body) @def.fn
(function_declaration (nullable_type (user_type (identifier)+ @container)) . "." . name: (_) @name (function_body)? @body) @def.fn
(function_declaration name: (_) @name (function_body)? @body) @def.fn
(secondary_constructor "constructor" @name (block)? @body (#set! subtype "constructor")) @def.method

; properties and members
(property_declaration (modifiers (property_modifier "const")) (variable_declaration . (identifier) @name)) @def.const
(property_declaration (user_type (identifier)+ @container) . "." . (variable_declaration (identifier) @name)) @def.var
(property_declaration (variable_declaration . (identifier) @name)) @def.var
(property_declaration (multi_variable_declaration (variable_declaration . (identifier) @name @def.var)))
(class_parameter ["val" "var"] (identifier) @name) @def.field
(enum_entry (identifier) @name (class_body)? @body) @def.variant

; what stands around and before declarations
(property_declaration) @statement
(visibility_modifier) @vis
(modifiers (annotation) @attr)
[(line_comment) (block_comment)] @comment
[(lambda_literal) (anonymous_function) (getter) (setter) (anonymous_initializer)] @local

; references
(call_expression . [(identifier) @ref.call (navigation_expression (identifier) @ref.call .)])
(delegation_specifier (constructor_invocation (user_type (identifier) @ref.new .)))
(unary_expression operator: "!!" @ref.macro)
(throw_expression "throw" @ref.macro)

; imports
(import (qualified_identifier) @import.tree) @import
(import "*" @import.star)
(import (qualified_identifier) . "as" . (identifier) @import.alias)
