; After the queries of C: what only C++ has.

(namespace_definition name: (_) @name body: (_) @body) @def.module
(namespace_definition !name body: (_) @body (#set! name "(anonymous)") (#set! vis "static")) @def.module
(class_specifier name: [(type_identifier) @name (template_type name: (type_identifier) @name)] body: (_) @body) @def.class
(class_specifier name: (qualified_identifier scope: (_) @container name: (type_identifier) @name) body: (_) @body) @def.class
(struct_specifier name: (template_type name: (type_identifier) @name) body: (_) @body) @def.struct
(struct_specifier name: (qualified_identifier scope: (_) @container name: (type_identifier) @name) body: (_) @body) @def.struct
(alias_declaration name: (_) @name) @def.type
(concept_definition name: (_) @name (#set! subtype "concept")) @def.type

; constructors, destructors and operators
(field_declaration_list (function_definition !type declarator: (function_declarator declarator: (identifier) @name) body: (_)? @body (#set! subtype "constructor")) @def.method)
(field_declaration_list (template_declaration (function_definition !type declarator: (function_declarator declarator: (identifier) @name) body: (_)? @body (#set! subtype "constructor")) @def.method))
(field_declaration_list (declaration !type declarator: (function_declarator declarator: (identifier) @name) (#set! subtype "prototype")) @def.method)
(function_definition declarator: (function_declarator declarator: [(destructor_name) (operator_name)] @name) body: (_)? @body) @def.fn
(function_definition declarator: (reference_declarator (function_declarator declarator: (operator_name) @name)) body: (_)? @body) @def.fn
(function_definition declarator: (operator_cast "operator" @name type: (_) @name) body: (_)? @body (#set! subtype "conversion")) @def.fn
(declaration declarator: (function_declarator declarator: [(destructor_name) (operator_name)] @name) (#set! subtype "prototype") (#set! outside "yes")) @def.fn
(declaration declarator: (reference_declarator (function_declarator declarator: [(identifier) (operator_name)] @name)) (#set! subtype "prototype") (#set! outside "yes")) @def.fn
(declaration declarator: (operator_cast "operator" @name type: (_) @name) (#set! subtype "prototype")) @def.fn
(field_declaration declarator: [
  (function_declarator declarator: [(field_identifier) (operator_name)] @name)
  (pointer_declarator declarator: (function_declarator declarator: [(field_identifier) (operator_name)] @name))
  (pointer_declarator declarator: (pointer_declarator declarator: (function_declarator declarator: (field_identifier) @name)))
  (reference_declarator (function_declarator declarator: [(field_identifier) (operator_name)] @name))] (#set! subtype "prototype")) @def.method

; functions whose result is a reference, and specializations
(function_definition declarator: (reference_declarator (function_declarator declarator: [(identifier) (field_identifier)] @name)) body: (_) @body) @def.fn
(function_definition type: (_) declarator: (function_declarator declarator: (template_function name: (identifier) @name)) body: (_) @body) @def.fn
(function_definition type: (_) declarator: (function_declarator declarator: [(identifier) (field_identifier)] @name) [(default_method_clause) (delete_method_clause)]) @def.fn

; members defined outside: A::m, A::B::m, A::B::C::m, as such, behind a star, behind an ampersand
(function_definition declarator: (function_declarator declarator:
  (qualified_identifier scope: [(namespace_identifier) @container (template_type name: (_) @container)] name: [(identifier) (destructor_name) (operator_name)] @name)) body: (_)? @body) @def.fn
(function_definition declarator: (function_declarator declarator:
  (qualified_identifier scope: [(namespace_identifier) @container (template_type name: (_) @container)] name:
    (qualified_identifier scope: [(namespace_identifier) @container (template_type name: (_) @container)] name: [(identifier) (destructor_name) (operator_name)] @name))) body: (_)? @body) @def.fn
(function_definition declarator: (function_declarator declarator:
  (qualified_identifier scope: (_) @container name:
    (qualified_identifier scope: [(namespace_identifier) @container (template_type name: (_) @container)] name:
      (qualified_identifier scope: [(namespace_identifier) @container (template_type name: (_) @container)] name: [(identifier) (destructor_name) (operator_name)] @name)))) body: (_)? @body) @def.fn
(function_definition declarator: [(pointer_declarator declarator: (function_declarator declarator:
  (qualified_identifier scope: [(namespace_identifier) @container (template_type name: (_) @container)] name: [(identifier) (operator_name)] @name)))
  (reference_declarator (function_declarator declarator:
  (qualified_identifier scope: [(namespace_identifier) @container (template_type name: (_) @container)] name: [(identifier) (operator_name)] @name)))] body: (_)? @body) @def.fn
(function_definition declarator: [(pointer_declarator declarator: (function_declarator declarator:
  (qualified_identifier scope: (namespace_identifier) @container name:
    (qualified_identifier scope: [(namespace_identifier) @container (template_type name: (_) @container)] name: [(identifier) (operator_name)] @name))))
  (reference_declarator (function_declarator declarator:
  (qualified_identifier scope: (namespace_identifier) @container name:
    (qualified_identifier scope: [(namespace_identifier) @container (template_type name: (_) @container)] name: [(identifier) (operator_name)] @name))))] body: (_)? @body) @def.fn

; variables
(declaration declarator: [
  (init_declarator declarator: (reference_declarator (identifier) @name))
  (qualified_identifier scope: [(namespace_identifier) @container (template_type name: (_) @container)] name: (identifier) @name)
  (init_declarator declarator: (qualified_identifier scope: [(namespace_identifier) @container (template_type name: (_) @container)] name: (identifier) @name))
  (init_declarator declarator: (qualified_identifier scope: (namespace_identifier) @container name:
    (qualified_identifier scope: [(namespace_identifier) @container (template_type name: (_) @container)] name: (identifier) @name)))] @def.var)
(field_declaration declarator: (reference_declarator (field_identifier) @name) @def.field)

; what stands around and before declarations
(template_declaration) @statement
(friend_declaration) @statement @lift
(linkage_specification body: [(function_definition) (declaration)]) @statement
(field_declaration_list (access_specifier) @section)
(attribute_declaration) @attr
(lambda_expression) @local

; references
(call_expression function: [
  (template_function name: (identifier) @ref.call)
  (field_expression field: (template_method name: (field_identifier) @ref.call))
  (qualified_identifier name: [
    (identifier) @ref.call
    (template_function name: (identifier) @ref.call)
    (qualified_identifier name: [
      (identifier) @ref.call
      (template_function name: (identifier) @ref.call)
      (qualified_identifier name: [(identifier) @ref.call (template_function name: (identifier) @ref.call)])])])])
(new_expression type: [
  (type_identifier) @ref.new
  (template_type name: (type_identifier) @ref.new)
  (qualified_identifier name: [(type_identifier) @ref.new (template_type name: (type_identifier) @ref.new)])])
(throw_statement "throw" @ref.macro)
