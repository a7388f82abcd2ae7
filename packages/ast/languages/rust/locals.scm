; names
((identifier) @token (#set! space "value"))
((type_identifier) @token (#set! space "type"))
((shorthand_field_identifier) @token (#set! space "value") (#set! shorthand "pattern"))
(shorthand_field_initializer (identifier) @shorthand)
((field_identifier) @token (#set! role "member"))
([(self) (super) (crate) (metavariable)] @token (#set! space "type"))
(token_tree ["union" "default" "gen"] @token (#set! space "value"))
[(string_content) (char_literal)] @text.string
[(line_comment) (block_comment)] @text.comment
(macro_invocation (token_tree) @opaque)
(attribute arguments: (token_tree) @opaque.unknown)
(macro_rule right: (token_tree) @opaque.unknown)
((macro_invocation macro: [(identifier) @_macro (scoped_identifier name: (identifier) @_macro)] (token_tree (string_literal (string_content) @format)))
  (#any-of? @_macro "print" "println" "eprint" "eprintln" "format" "write" "writeln" "panic" "todo" "unimplemented" "unreachable"
    "assert" "assert_eq" "assert_ne" "debug_assert" "debug_assert_eq" "debug_assert_ne" "format_args"
    "trace" "debug" "info" "warn" "error" "log" "anyhow" "bail" "ensure"))

; scopes
((source_file) @scope.module (#set! spaces "apart"))
(mod_item body: (declaration_list) @scope.module (#set! barrier "all"))
((function_item) @scope.function (#set! barrier "locals"))
[(function_signature_item) (closure_expression) (function_type)] @scope.function
[
  (block) (match_arm) (for_expression) (impl_item) (trait_item) (struct_item) (enum_item) (union_item) (type_item) (associated_type)
] @scope.block

; items
(function_item name: (identifier) @def.outer)
(function_signature_item name: (identifier) @def.outer)
(const_item name: (identifier) @def (#set! unless "^_$"))
(static_item name: (identifier) @def)
(struct_item name: (_) @def.outer)
(struct_item name: (_) @def.outer body: (ordered_field_declaration_list) (#set! space "type value"))
(struct_item name: (_) @def.outer !body (#set! space "type value"))
(enum_item name: (_) @def.outer)
(union_item name: (_) @def.outer)
(trait_item name: (_) @def.outer)
(type_item name: (_) @def.outer)
(mod_item name: (identifier) @def (#set! space "type"))
(macro_definition name: (identifier) @def (#set! space "macro"))
(extern_crate_declaration !alias name: (identifier) @def (#set! space "type"))
(extern_crate_declaration name: (identifier) @notref alias: (identifier) @def (#set! space "type"))

; what belongs to a type
(impl_item body: (declaration_list [(function_item name: (_) @def.member) (const_item name: (_) @def.member) (type_item name: (_) @def.member)]))
(trait_item body: (declaration_list [
  (function_item name: (_) @def.member) (function_signature_item name: (_) @def.member) (const_item name: (_) @def.member)
  (associated_type name: (_) @def.member) (type_item name: (_) @def.member)]))
(enum_variant name: (identifier) @def.member)

; generics, parameters, variables
(function_item type_parameters: (type_parameters [(type_parameter name: (_) @def) (const_parameter name: (_) @def)]) (#set! local "yes"))
(type_parameters [(type_parameter name: (_) @def) (const_parameter name: (_) @def)])
(parameter pattern: (_) @def.each (#set! local "yes") (#set! unless "^(\\p{Lu}|_$)"))
(closure_parameters [
    (identifier) (tuple_pattern) (tuple_struct_pattern) (struct_pattern) (reference_pattern) (ref_pattern) (mut_pattern)
    (slice_pattern) (captured_pattern)] @def.each (#set! local "yes") (#set! unless "^(\\p{Lu}|_$)"))
((let_declaration pattern: (_) @def.each) @after (#set! local "yes") (#set! shadow "yes") (#set! unless "^(\\p{Lu}|_$)"))
(if_expression condition: (let_condition pattern: (_) @def.each) @after consequence: (block) @in (#set! local "yes") (#set! shadow "yes") (#set! unless "^(\\p{Lu}|_$)"))
(if_expression condition: (let_chain (let_condition pattern: (_) @def.each) @after) consequence: (block) @in (#set! local "yes") (#set! shadow "yes") (#set! unless "^(\\p{Lu}|_$)"))
(while_expression condition: (let_condition pattern: (_) @def.each) @after body: (block) @in (#set! local "yes") (#set! shadow "yes") (#set! unless "^(\\p{Lu}|_$)"))
(while_expression condition: (let_chain (let_condition pattern: (_) @def.each) @after) body: (block) @in (#set! local "yes") (#set! shadow "yes") (#set! unless "^(\\p{Lu}|_$)"))
(match_pattern condition: (let_condition pattern: (_) @def.each) @after (#set! local "yes") (#set! shadow "yes") (#set! unless "^(\\p{Lu}|_$)"))
(match_arm pattern: (match_pattern . (_) @def.each) (#set! local "yes") (#set! unless "^(\\p{Lu}|_$)"))
(for_expression pattern: (_) @def.each value: (_) @after (#set! local "yes") (#set! unless "^(\\p{Lu}|_$)"))
(tuple_struct_pattern type: (_) @expr)
(struct_pattern type: (_) @expr)
[(scoped_identifier) (range_pattern) (macro_invocation)] @expr

; imported names
(use_declaration argument: (identifier) @def (#set! space "any"))
(use_declaration argument: (scoped_identifier name: (identifier) @def) (#set! space "any"))
(use_list (identifier) @def (#set! space "any"))
(use_list (scoped_identifier name: (identifier) @def) (#set! space "any"))
(use_as_clause alias: (identifier) @def (#set! space "any") (#set! unless "^_$"))
(scoped_use_list path: [(identifier) @def (scoped_identifier name: (identifier) @def)] list: (use_list (self)) (#set! space "any"))

; references that are not what their kind says
(scoped_identifier path: (identifier) @ref (#set! space "type"))
(scoped_identifier path: (scoped_identifier name: (identifier) @ref) (#set! space "type"))
(scoped_type_identifier path: (identifier) @ref (#set! space "type"))
(scoped_type_identifier path: (scoped_identifier name: (identifier) @ref) (#set! space "type"))
(scoped_use_list path: (identifier) @ref (#set! space "type"))
(scoped_use_list path: (scoped_identifier name: (identifier) @ref) (#set! space "type"))
(use_wildcard (identifier) @ref (#set! space "type"))
(use_wildcard (scoped_identifier name: (identifier) @ref) (#set! space "type"))
(use_as_clause path: (identifier) @ref (#set! space "any"))
(use_as_clause path: (scoped_identifier name: (identifier) @ref) (#set! space "any"))
(macro_invocation macro: (identifier) @ref (#set! space "macro"))
(attribute (identifier) @notref)
(lifetime (identifier) @notref)
(label (identifier) @notref)
((identifier) @notref (#eq? @notref "_"))

; paths and members
(scoped_identifier path: (_) @object name: (_) @member)
(scoped_type_identifier path: (_) @object name: (_) @member)
(scoped_use_list path: (_) @object list: (use_list (_) @member))
(field_expression field: (field_identifier) @member)

; modules
(mod_item name: (identifier) @link.name !body (#set! link "file"))
(mod_item name: (identifier) @link.name body: (declaration_list) @link.body (#set! link "inline"))
(extern_crate_declaration !alias name: (identifier) @link.local (#set! link "crate"))
(extern_crate_declaration name: (identifier) @link.source alias: (identifier) @link.local (#set! link "crate"))
(use_declaration argument: (identifier) @link.local (#set! link "use"))
(use_declaration argument: (scoped_identifier name: (identifier) @link.local) (#set! link "use"))
(use_list (identifier) @link.local (#set! link "use"))
(use_list (scoped_identifier name: (identifier) @link.local) (#set! link "use"))
(use_as_clause path: (_) @link.source alias: (identifier) @link.local (#set! link "use"))
(scoped_use_list path: [(identifier) @link.local (scoped_identifier name: (identifier) @link.local)] list: (use_list (self)) (#set! link "use"))
(use_wildcard (_) @link.source (#set! link "glob"))
(scoped_use_list path: (_) @link.source list: (use_list (use_wildcard . "*" .)) (#set! link "glob"))
