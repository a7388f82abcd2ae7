; names
((identifier) @token (#set! space "any"))
(string_content) @text.string
(comment) @text.comment

; scopes
(module) @scope.module
[(function_definition) (lambda)] @scope.function
(class_definition body: (block) @scope.class)
[(list_comprehension) (set_comprehension) (dictionary_comprehension) (generator_expression)] @scope.comprehension
(class_definition type_parameters: (_)) @scope.block
(type_alias_statement) @scope.block

; evaluated outside of the scope they stand in
(default_parameter value: (_) @outer)
(typed_default_parameter value: (_) @outer)
(function_definition !type_parameters parameters: (parameters [(typed_parameter type: (_) @outer) (typed_default_parameter type: (_) @outer)]))
(function_definition !type_parameters return_type: (_) @outer)
([(list_comprehension body: (_) . (for_in_clause right: (_) @outer))
  (set_comprehension body: (_) . (for_in_clause right: (_) @outer))
  (dictionary_comprehension body: (_) . (for_in_clause right: (_) @outer))
  (generator_expression body: (_) . (for_in_clause right: (_) @outer))])

; functions, classes, parameters
(function_definition name: (identifier) @def.outer)
(class_definition name: (identifier) @def.hoist)
([(parameters [
    (identifier) @def (default_parameter name: (_) @def.each) (typed_default_parameter name: (_) @def) (typed_parameter . (_) @def.each)
    (list_splat_pattern (identifier) @def) (dictionary_splat_pattern (identifier) @def) (tuple_pattern) @def.each])
  (lambda_parameters [
    (identifier) @def (default_parameter name: (_) @def.each) (list_splat_pattern (identifier) @def) (dictionary_splat_pattern (identifier) @def) (tuple_pattern) @def.each])])
(function_definition type_parameters: (type_parameter (type [(identifier) @def (constrained_type . (type (identifier) @def)) (splat_type (identifier) @def)])))
(class_definition type_parameters: (type_parameter (type [(identifier) @def (constrained_type . (type (identifier) @def)) (splat_type (identifier) @def)])))
(type_alias_statement left: (type [(identifier) @def.hoist (generic_type (identifier) @def.hoist)]))
(type_alias_statement left: (type (generic_type (type_parameter (type [(identifier) @def (constrained_type . (type (identifier) @def)) (splat_type (identifier) @def)])))))

; assignments; a class body sees its own name only after the statement
((assignment left: [(identifier) (pattern_list) (tuple_pattern) (list_pattern)] @def.each) @after (#set! hoist "yes") (#set! after "class"))
((augmented_assignment left: (identifier) @def.hoist) @after (#set! after "class"))
(named_expression name: (identifier) @def (#set! into "function module"))
(for_statement left: [(identifier) (pattern_list) (tuple_pattern) (list_pattern)] @def.each (#set! hoist "yes"))
(for_in_clause left: [(identifier) (pattern_list) (tuple_pattern) (list_pattern)] @def.each)
(as_pattern alias: (as_pattern_target [(identifier) (tuple) (list) (parenthesized_expression)] @def.each) (#set! hoist "yes"))
([(pattern_list [(subscript) (attribute)] @expr) (tuple_pattern [(subscript) (attribute)] @expr) (list_pattern [(subscript) (attribute)] @expr)
  (list_splat_pattern [(subscript) (attribute)] @expr) (tuple [(subscript) (attribute)] @expr) (list [(subscript) (attribute)] @expr)])
(delete_statement (identifier) @def.hoist)
(delete_statement (expression_list (identifier) @def.hoist))
(case_pattern (dotted_name . (identifier) @def.hoist .))
(keyword_pattern (dotted_name . (identifier) @def.hoist .))
(keyword_pattern . (identifier) @notref)
(splat_pattern (identifier) @def.hoist)
(case_pattern (as_pattern (case_pattern) (identifier) @def.hoist))
(global_statement (identifier) @global)
(nonlocal_statement (identifier) @nonlocal)

; imported names
(import_statement name: (dotted_name . (identifier) @def.hoist))
(import_statement name: (dotted_name (identifier) . (identifier) @notref))
(import_statement name: (aliased_import name: (dotted_name (identifier) @notref)))
(import_statement name: (aliased_import alias: (identifier) @def.hoist))
(import_from_statement module_name: (dotted_name (identifier) @notref))
(import_from_statement module_name: (relative_import (dotted_name (identifier) @notref)))
(import_from_statement name: (dotted_name . (identifier) @def.hoist .))
(import_from_statement name: (aliased_import name: (dotted_name (identifier) @notref)))
(import_from_statement name: (aliased_import alias: (identifier) @def.hoist))
(future_import_statement (dotted_name (identifier) @notref))

; members and keywords of calls
(attribute object: (_) @object attribute: (identifier) @member)
(case_pattern (dotted_name (identifier) @object . (identifier) @member))
(class_pattern (dotted_name (identifier) @object . (identifier) @member))
(keyword_argument name: (identifier) @notref)

; strings that are names or code
((assignment left: (identifier) @_all right: [
    (list (string (string_content) @token.string @link.name)) (tuple (string (string_content) @token.string @link.name))
    (binary_operator [(list (string (string_content) @token.string @link.name)) (tuple (string (string_content) @token.string @link.name))])
  ]) (#eq? @_all "__all__") (#set! link "all"))
((assignment left: (identifier) @_all @link.list) (#eq? @_all "__all__") (#set! link "all"))
((augmented_assignment left: (identifier) @_all right: [(list (string (string_content) @token.string @link.name)) (tuple (string (string_content) @token.string @link.name))])
  (#eq? @_all "__all__") (#set! link "all"))
((call function: (attribute object: (identifier) @_all) arguments: (argument_list [(string (string_content) @token.string @link.name) (list (string (string_content) @token.string @link.name))]))
  (#eq? @_all "__all__") (#set! link "all"))
(type (string (string_content) @quoted))
(type (binary_operator (string (string_content) @quoted)))
((type (subscript value: (_) @_generic subscript: (string (string_content) @quoted))) (#not-match? @_generic "Literal$"))
((call function: (_) @_cast arguments: (argument_list . (string (string_content) @quoted))) (#match? @_cast "^(typing\\.)?cast$"))
((keyword_argument name: (identifier) @_bound value: (string (string_content) @quoted)) (#eq? @_bound "bound"))
((generic_type (identifier) @_generic (type_parameter (type (string (string_content) @plain)))) (#match? @_generic "^(Literal|Annotated)$"))

; imports
(import_statement name: (dotted_name . (identifier) @link.local) @link.source (#set! link "module"))
(import_statement name: (aliased_import name: (dotted_name) @link.source alias: (identifier) @link.local) (#set! link "module-as"))
(import_from_statement module_name: (_) @link.source name: (dotted_name . (identifier) @link.name @link.local .) (#set! link "from"))
(import_from_statement module_name: (_) @link.source name: (aliased_import name: (dotted_name . (identifier) @link.name .) alias: (identifier) @link.local) (#set! link "from"))
(import_from_statement module_name: (_) @link.source (wildcard_import) @link.star (#set! link "star"))

; who takes which keywords
(function_definition name: (identifier) @link.name parameters: (parameters) @link.parameters (#set! link "function"))
(class_definition name: (identifier) @link.name body: (block) @link.body (#set! link "class"))
(call function: (_) @link.callee arguments: (argument_list (keyword_argument name: (identifier) @link.name)) (#set! link "keyword"))
