; One name, one declaration: where several patterns match, the first in this file wins.

(rule_set (selectors) @name (block) @body) @def.rule
(media_statement . "@media" @subtype . (_) @name (block) @body) @def.rule
(supports_statement . "@supports" @subtype . (_) @name (block) @body) @def.rule
(keyframes_statement . _ @subtype . (keyframes_name) @name (keyframe_block_list) @body) @def.rule
(at_rule . (at_keyword) @subtype . (keyword_query) @name (block) @body (#set! single "yes")) @def.rule
(at_rule . (at_keyword) @name (block) @body (#set! single "yes")) @def.rule
((declaration (property_name) @name) @def.var (#match? @name "^--"))
(comment) @comment

; references
(call_expression (function_name) @ref.call)

; imports
(import_statement [
  (string_value (string_content) @import.source)
  (call_expression (arguments [(string_value (string_content) @import.source) (plain_value) @import.source]))]) @import
