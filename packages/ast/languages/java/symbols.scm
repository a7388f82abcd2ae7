; One name, one declaration: where several patterns match, the first in this file wins.

(module_declaration name: (_) @name body: (_) @body (#set! vis "public")) @def.module
(class_declaration name: (_) @name body: (_) @body) @def.class
(interface_declaration name: (_) @name body: (_) @body) @def.interface
(annotation_type_declaration name: (_) @name body: (_) @body (#set! subtype "annotation")) @def.interface
(enum_declaration name: (_) @name body: (_) @body) @def.enum
(record_declaration name: (_) @name body: (_) @body (#set! subtype "record")) @def.class

; members
(method_declaration name: (_) @name body: (_) @body) @def.method
(method_declaration name: (_) @name) @def.method
(constructor_declaration name: (_) @name body: (_) @body (#set! subtype "constructor")) @def.method
(compact_constructor_declaration name: (_) @name body: (_) @body (#set! subtype "constructor")) @def.method
(annotation_type_element_declaration name: (_) @name) @def.method
(enum_constant name: (_) @name body: (_)? @body (#set! vis "public")) @def.variant
(field_declaration declarator: (variable_declarator name: (_) @name) @def.field)
(constant_declaration declarator: (variable_declarator name: (_) @name) @def.const)
(record_declaration parameters: (formal_parameters (formal_parameter name: (_) @name) @def.field) (#set! vis "public"))

; what stands around and before declarations
[(field_declaration) (constant_declaration)] @statement
(modifiers ["public" "protected" "private"] @vis)
(modifiers [(annotation) (marker_annotation)] @attr)
[(line_comment) (block_comment)] @comment
(lambda_expression) @local

; references
(method_invocation name: (identifier) @ref.call)
(object_creation_expression type: [
  (type_identifier) @ref.new
  (generic_type . (type_identifier) @ref.new)
  (scoped_type_identifier (type_identifier) @ref.new .)
  (generic_type . (scoped_type_identifier (type_identifier) @ref.new .))])
(throw_statement "throw" @ref.macro)

; imports
(import_declaration (scoped_identifier scope: (_) @import.source name: (_) @import.name) . ";") @import
(import_declaration (scoped_identifier) @import.source . (asterisk) @import.star) @import
(import_declaration (identifier) @import.source) @import
