; One name, one declaration: where several patterns match, the first in this file wins.
; C++ takes this file over.

; tests of the macro frameworks: TEST(Suite, Name) { … }
((function_definition
    declarator: (function_declarator
      declarator: (identifier) @_test
      parameters: (parameter_list . (parameter_declaration type: (_) @container) . (parameter_declaration type: (_) @name) .))
    body: (_) @body) @def.test
  (#any-of? @_test "TEST" "TEST_F" "TEST_P" "TYPED_TEST" "TYPED_TEST_P" "Test" "ParameterizedTest"))
; where the grammar takes the macro for a call, the body is what follows it
(((expression_statement (call_expression function: (identifier) @_test arguments: (argument_list . (identifier) @container . (identifier) @name .))) @def.test
    . (compound_statement) @body)
  (#any-of? @_test "TEST" "TEST_F" "TEST_P" "Test" "ParameterizedTest"))
(((expression_statement (call_expression function: (identifier) @_test arguments: (argument_list . (string_literal) @name))) @def.test
    . (compound_statement) @body)
  (#any-of? @_test "TEST_CASE" "SCENARIO" "SECTION" "SUBCASE" "GIVEN" "WHEN" "THEN"))

; functions, by how many stars their result has
(function_definition type: (_) declarator: (function_declarator declarator: [(identifier) (field_identifier)] @name) body: (_) @body) @def.fn
(function_definition type: (_) declarator: (pointer_declarator declarator: (function_declarator declarator: [(identifier) (field_identifier)] @name)) body: (_) @body) @def.fn
(function_definition type: (_) declarator: (pointer_declarator declarator: (pointer_declarator declarator: (function_declarator declarator: [(identifier) (field_identifier)] @name))) body: (_) @body) @def.fn

; prototypes; inside a function `lock guard(mutex)` looks like one
(declaration type: (_) declarator: (function_declarator declarator: (identifier) @name) (#set! subtype "prototype") (#set! outside "yes")) @def.fn
(declaration type: (_) declarator: (pointer_declarator declarator: (function_declarator declarator: (identifier) @name)) (#set! subtype "prototype") (#set! outside "yes")) @def.fn
(declaration type: (_) declarator: (pointer_declarator declarator: (pointer_declarator declarator: (function_declarator declarator: (identifier) @name))) (#set! subtype "prototype") (#set! outside "yes")) @def.fn

; types; those without a name take that of their typedef
(type_definition type: (struct_specifier !name body: (_) @body) declarator: (type_identifier) @name) @def.struct
(type_definition type: (union_specifier !name body: (_) @body) declarator: (type_identifier) @name (#set! subtype "union")) @def.struct
(type_definition type: (enum_specifier !name body: (_) @body) declarator: (type_identifier) @name) @def.enum
(struct_specifier name: (type_identifier) @name body: (_) @body) @def.struct
(union_specifier name: (type_identifier) @name body: (_) @body (#set! subtype "union")) @def.struct
(enum_specifier name: (type_identifier) @name body: (_) @body) @def.enum
(type_definition type: [(struct_specifier name: (_) @_tag body: (_)) (union_specifier name: (_) @_tag body: (_)) (enum_specifier name: (_) @_tag body: (_))]
  declarator: (type_identifier) @name @def.type (#not-eq? @_tag @name))
(type_definition type: [(struct_specifier name: (_) body: (_)) (union_specifier name: (_) body: (_)) (enum_specifier name: (_) body: (_))]
  declarator: [(pointer_declarator declarator: (type_identifier) @name) (array_declarator declarator: (type_identifier) @name)] @def.type)
(type_definition type: [(struct_specifier !name body: (_)) (union_specifier !name body: (_)) (enum_specifier !name body: (_))]
  declarator: [(pointer_declarator declarator: (type_identifier) @name) (array_declarator declarator: (type_identifier) @name)] @def.type @lift)
(type_definition type: [(struct_specifier !body) (union_specifier !body) (enum_specifier !body) (primitive_type) (sized_type_specifier) (type_identifier)]
  declarator: [
    (type_identifier) @name
    (pointer_declarator declarator: (type_identifier) @name)
    (array_declarator declarator: (type_identifier) @name)
    (function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: (type_identifier) @name)))]) @def.type

; members
(type_definition type: (enum_specifier !name body: (enumerator_list (enumerator name: (_) @name) @def.variant)))
(enum_specifier !name body: (enumerator_list (enumerator name: (_) @name) @def.const))
(enumerator name: (_) @name) @def.variant
(field_declaration declarator: [
  (field_identifier) @name
  (pointer_declarator declarator: (field_identifier) @name)
  (pointer_declarator declarator: (pointer_declarator declarator: (field_identifier) @name))
  (array_declarator declarator: (field_identifier) @name)
  (array_declarator declarator: (array_declarator declarator: (field_identifier) @name))
  (pointer_declarator declarator: (array_declarator declarator: (field_identifier) @name))
  (pointer_declarator declarator: (function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: (field_identifier) @name))))
  (function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: (pointer_declarator declarator: (field_identifier) @name))))
  (function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: (field_identifier) @name)))] @def.field)

; variables
(declaration declarator: [
  (identifier) @name
  (pointer_declarator declarator: (identifier) @name)
  (pointer_declarator declarator: (pointer_declarator declarator: (identifier) @name))
  (array_declarator declarator: (identifier) @name)
  (array_declarator declarator: (array_declarator declarator: (identifier) @name))
  (pointer_declarator declarator: (array_declarator declarator: (identifier) @name))
  (pointer_declarator declarator: (function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: (identifier) @name))))
  (function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: (pointer_declarator declarator: (identifier) @name))))
  (function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: (identifier) @name)))
  (init_declarator declarator: [
    (identifier) @name
    (pointer_declarator declarator: (identifier) @name)
    (pointer_declarator declarator: (pointer_declarator declarator: (identifier) @name))
    (array_declarator declarator: (identifier) @name)
    (array_declarator declarator: (array_declarator declarator: (identifier) @name))
    (pointer_declarator declarator: (array_declarator declarator: (identifier) @name))
    (pointer_declarator declarator: (function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: (identifier) @name))))
    (function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: (pointer_declarator declarator: (identifier) @name))))
    (function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: (identifier) @name)))])] @def.var)

; macros
(preproc_def name: (_) @name) @def.macro
(preproc_function_def name: (_) @name value: (_) @body) @def.macro

; what stands around and before declarations
((declaration (type_qualifier) @_const) @statement (#any-of? @_const "const" "constexpr") (#set! type "const"))
[(declaration) (field_declaration) (type_definition)] @statement
(storage_class_specifier) @vis
(comment) @comment

; references
(call_expression function: [(identifier) @ref.call (field_expression field: (field_identifier) @ref.call)])

; imports
(preproc_include path: [(string_literal (string_content) @import.source) (system_lib_string) @import.source]) @import
