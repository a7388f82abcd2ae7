; One name, one declaration: where several patterns match, the first in this file wins.

(function_declaration name: (_) @name body: (_) @body) @def.fn
(function_declaration name: (_) @name) @def.fn
(method_declaration
  receiver: (parameter_list (parameter_declaration type: [
    (type_identifier) @container
    (generic_type type: (type_identifier) @container)
    (pointer_type [(type_identifier) @container (generic_type type: (type_identifier) @container)])]))
  name: (_) @name body: (_) @body) @def.method
(type_spec name: (_) @name type: (struct_type (field_declaration_list) @body)) @def.struct
(type_spec name: (_) @name type: (interface_type) @body) @def.interface
(type_spec name: (_) @name) @def.type
(type_alias name: (_) @name) @def.type
(field_declaration name: (_) @name) @def.field
(field_declaration !name type: [(type_identifier) @name (qualified_type name: (_) @name) (generic_type type: (type_identifier) @name)]) @def.field
(method_elem name: (_) @name) @def.method
(const_spec (identifier) @name) @def.const
(var_spec name: (identifier) @name value: (expression_list . (func_literal body: (_) @body) .)) @def.fn
(var_spec name: (identifier) @name) @def.var

; what stands around and before declarations
[(const_declaration) (var_declaration) (type_declaration)] @statement
(func_literal) @local
(comment) @comment

; references
(call_expression function: [(identifier) @ref.call (selector_expression field: (field_identifier) @ref.call)])
(composite_literal type: [(type_identifier) @ref.new (qualified_type name: (type_identifier) @ref.new) (generic_type type: (type_identifier) @ref.new)])

; imports
(import_spec path: (_) @import.source) @import
(import_spec name: [(package_identifier) (blank_identifier)] @import.alias)
(import_spec name: (dot) @import.star)
