# cmake -DSTYLE=report.css -DSCRIPTS=a.js|b.js -DOUTPUT=page.cpp -P embed.cmake: a C++ file that defines the style, the script, which
# is the scripts one after the other, and its SHA-256 in base 64, by which the page permits it alone.
string(REPLACE "|" ";" SCRIPTS "${SCRIPTS}")
file(READ ${STYLE} style)
set(script "")
foreach(part ${SCRIPTS})
  file(READ ${part} text)
  string(APPEND script "${text}")
endforeach()

# Three bytes are four digits of base 64; SHA-256 ends with two bytes.
string(SHA256 hex "${script}")
set(digits "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
set(hash "")
foreach(group RANGE 10)
  math(EXPR at "${group} * 6")
  string(SUBSTRING "${hex}00" ${at} 6 part)
  math(EXPR number "0x${part}")
  foreach(shift 18 12 6 0)
    math(EXPR digit "(${number} >> ${shift}) & 63")
    string(SUBSTRING "${digits}" ${digit} 1 character)
    string(APPEND hash "${character}")
  endforeach()
endforeach()
string(SUBSTRING "${hash}" 0 43 hash)


file(WRITE ${OUTPUT}
  "// Generated from analyzer/emit/page.\n"
  "#include \"analyzer/emit/page.h\"\n"
  "namespace pitwall::emit {\n"
  "const char kPageStyle[] = R\"pitwall_page(${style})pitwall_page\";\n"
  "const char kPageScript[] = R\"pitwall_page(${script})pitwall_page\";\n"
  "const char kPageScriptHash[] = \"sha256-${hash}=\";\n"
  "}  // namespace pitwall::emit\n")
