; One name, one declaration: where several patterns match, the first in this file wins.

(function_item name: (_) @name body: (_) @body) @def.fn
(function_signature_item name: (_) @name) @def.fn
(struct_item name: (_) @name body: (_) @body) @def.struct
(struct_item name: (_) @name) @def.struct
(union_item name: (_) @name body: (_) @body (#set! subtype "union")) @def.struct
(enum_item name: (_) @name body: (_) @body) @def.enum
(enum_variant name: (_) @name) @def.variant
(trait_item name: (_) @name body: (_) @body) @def.trait
(field_declaration name: (_) @name) @def.field
(const_item name: (_) @name) @def.const
(static_item name: (_) @name) @def.var
(type_item name: (_) @name) @def.type
(associated_type name: (_) @name) @def.type
(macro_definition name: (_) @name) @def.macro
(mod_item name: (_) @name body: (_) @body) @def.module
(mod_item name: (_) @name) @def.module

; an impl has the name of its type; the trait, when there is one, is its subtype
(impl_item type: [
    (type_identifier) @name
    (generic_type type: [(type_identifier) @name (scoped_type_identifier name: (_) @name)])
    (scoped_type_identifier name: (_) @name)
    (primitive_type) @name
    (reference_type) @name
    (tuple_type) @name
    (array_type) @name
    (dynamic_type) @name
    (pointer_type) @name
  ] body: (_) @body) @def.impl
(impl_item trait: (_) @subtype)

; what stands before declarations
(visibility_modifier) @vis
(attribute_item) @attr
(line_comment) @comment
(block_comment) @comment
(closure_expression) @local

; references
(call_expression function: [
  (identifier) @ref.call
  (field_expression field: (field_identifier) @ref.call)
  (scoped_identifier name: (identifier) @ref.call)
  (generic_function function: [(identifier) @ref.call (field_expression field: (field_identifier) @ref.call) (scoped_identifier name: (identifier) @ref.call)])])
(struct_expression name: [(type_identifier) @ref.new (scoped_type_identifier name: (type_identifier) @ref.new)])
(macro_invocation macro: [(identifier) @ref.macro (scoped_identifier name: (identifier) @ref.macro)])

; the arguments of macros are bare tokens
(token_tree (identifier) @opaque.call . (token_tree))
(token_tree (identifier) @opaque.macro . "!")

; imports
(use_declaration argument: (_) @import.tree) @import
(use_declaration (visibility_modifier) @import.reexport)
(extern_crate_declaration name: (identifier) @import.source alias: (identifier)? @import.alias) @import
