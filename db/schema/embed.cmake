# cmake -DINPUT=schema.sql -DOUTPUT=schema_sql.cpp -P embed.cmake: a C++ file that defines the text of INPUT.
file(READ ${INPUT} sql)
file(WRITE ${OUTPUT}
  "// Generated from schema.sql.\n"
  "namespace pitwall::store {\n"
  "extern const char kSchemaSql[];\n"
  "const char kSchemaSql[] = R\"pitwall_sql(${sql})pitwall_sql\";\n"
  "}  // namespace pitwall::store\n")
