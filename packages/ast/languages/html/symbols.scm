; Elements people can point at: by id, else by name. The tag is the subtype.
([
  (element (start_tag (attribute (attribute_name) @_id [(attribute_value) @name (quoted_attribute_value (attribute_value) @name)])) @head)
  (element (self_closing_tag (attribute (attribute_name) @_id [(attribute_value) @name (quoted_attribute_value (attribute_value) @name)])) @head)
  (script_element (start_tag (attribute (attribute_name) @_id [(attribute_value) @name (quoted_attribute_value (attribute_value) @name)])) @head)
  (style_element (start_tag (attribute (attribute_name) @_id [(attribute_value) @name (quoted_attribute_value (attribute_value) @name)])) @head)
] @def.element (#eq? @_id "id") (#set! single "yes"))
([
  (element (start_tag (attribute (attribute_name) @_name [(attribute_value) @name (quoted_attribute_value (attribute_value) @name)])) @head)
  (element (self_closing_tag (attribute (attribute_name) @_name [(attribute_value) @name (quoted_attribute_value (attribute_value) @name)])) @head)
] @def.element (#eq? @_name "name") (#set! single "yes"))
(start_tag (tag_name) @subtype)
(self_closing_tag (tag_name) @subtype)
(comment) @comment

; imports
((script_element (start_tag (attribute (attribute_name) @_src [(attribute_value) @import.source (quoted_attribute_value (attribute_value) @import.source)]))) @import
  (#eq? @_src "src"))
((element (start_tag (tag_name) @_link (attribute (attribute_name) @_href [(attribute_value) @import.source (quoted_attribute_value (attribute_value) @import.source)]))) @import
  (#eq? @_link "link") (#eq? @_href "href"))

; scripts and styles, in their own languages; those of an unknown type are left alone
((script_element (start_tag) @_tag (raw_text) @embedded)
  (#not-match? @_tag "\\s(?:type|lang)\\s*=") (#set! language "javascript"))
((script_element (start_tag) @_tag (raw_text) @embedded)
  (#match? @_tag "\\s(?:type|lang)\\s*=\\s*[\"']?(?:module|js|javascript|(?:text|application)/(?:java|ecma)script)[\"'\\s>]") (#set! language "javascript"))
((script_element (start_tag) @_tag (raw_text) @embedded)
  (#match? @_tag "\\s(?:type|lang)\\s*=\\s*[\"']?(?:ts|typescript|(?:text|application)/typescript)[\"'\\s>]") (#set! language "typescript"))
((script_element (start_tag) @_tag (raw_text) @embedded)
  (#match? @_tag "\\stype\\s*=\\s*[\"']?(?:importmap|speculationrules|application/(?:ld[+])?json)[\"'\\s>]") (#set! language "json"))
((style_element (start_tag) @_tag (raw_text) @embedded)
  (#not-match? @_tag "\\s(?:type|lang)\\s*=") (#set! language "css"))
((style_element (start_tag) @_tag (raw_text) @embedded)
  (#match? @_tag "\\s(?:type|lang)\\s*=\\s*[\"']?(?:css|text/css)[\"'\\s>]") (#set! language "css"))
