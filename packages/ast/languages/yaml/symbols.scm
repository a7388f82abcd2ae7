; Keys, one in the other; what is in a sequence belongs to the key of the sequence.
(block_mapping_pair key: (flow_node) @name value: (_)? @body) @def.key
(flow_pair key: (flow_node) @name value: (_)? @body) @def.key
(comment) @comment
