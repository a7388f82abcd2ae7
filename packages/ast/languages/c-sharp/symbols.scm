; One name, one declaration: where several patterns match, the first in this file wins.

(namespace_declaration name: (_) @name body: (_) @body (#set! vis "public")) @def.module
(file_scoped_namespace_declaration name: (_) @name (#set! vis "public") (#set! rest "yes")) @def.module
(class_declaration name: (_) @name body: (_)? @body) @def.class
(struct_declaration name: (_) @name body: (_)? @body) @def.struct
(record_declaration "struct" name: (_) @name body: (_)? @body (#set! subtype "record")) @def.struct
(record_declaration name: (_) @name body: (_)? @body (#set! subtype "record")) @def.class
(interface_declaration name: (_) @name body: (_)? @body) @def.interface
(enum_declaration name: (_) @name body: (_)? @body) @def.enum
(delegate_declaration name: (_) @name (#set! subtype "delegate")) @def.type

; members
(method_declaration name: (_) @name body: (_)? @body) @def.method
(local_function_statement name: (_) @name body: (_)? @body) @def.fn
(constructor_declaration name: (_) @name body: (_)? @body (#set! subtype "constructor")) @def.method
(destructor_declaration name: (_) @name body: (_)? @body (#set! subtype "destructor")) @def.method
(operator_declaration operator: _ @name body: (_)? @body (#set! subtype "operator")) @def.method
(conversion_operator_declaration "operator" @name body: (_)? @body (#set! subtype "conversion")) @def.method
(indexer_declaration "this" @name accessors: (_)? @body (#set! subtype "indexer")) @def.method
(property_declaration name: (_) @name accessors: (_) @body (#set! subtype "property")) @def.field
(property_declaration name: (_) @name value: (_) @body (#set! subtype "property")) @def.field
(event_declaration name: (_) @name accessors: (_) @body (#set! subtype "event")) @def.field
(event_field_declaration (variable_declaration (variable_declarator name: (_) @name) @def.field) (#set! subtype "event"))
(field_declaration (modifier "const") (variable_declaration (variable_declarator name: (_) @name) @def.const))
(field_declaration (variable_declaration (variable_declarator name: (_) @name) @def.field))
(enum_member_declaration name: (_) @name) @def.variant
(record_declaration (parameter_list (parameter name: (_) @name) @def.field) (#set! vis "public"))

; what stands around and before declarations
[(field_declaration) (event_field_declaration)] @statement
(modifier) @vis
(attribute_list) @attr
(comment) @comment
[(lambda_expression) (anonymous_method_expression)] @local

; references
(invocation_expression function: [
  (identifier) @ref.call
  (generic_name . (identifier) @ref.call)
  (member_access_expression name: [(identifier) @ref.call (generic_name . (identifier) @ref.call)])
  (conditional_access_expression (member_binding_expression name: [(identifier) @ref.call (generic_name . (identifier) @ref.call)]))])
(object_creation_expression type: [
  (identifier) @ref.new
  (generic_name . (identifier) @ref.new)
  (qualified_name name: [(identifier) @ref.new (generic_name . (identifier) @ref.new)])])
(throw_statement "throw" @ref.macro)
(throw_expression "throw" @ref.macro)
(postfix_unary_expression "!" @ref.macro)

; imports
(using_directive !name [(identifier) (qualified_name) (alias_qualified_name)] @import.source) @import
(using_directive name: (identifier) @import.alias (type) @import.source) @import
