# embed_text(INPUT OUTPUT SYMBOL): writes a C++ source with the text file as `extern const char* const SYMBOL`.
function(embed_text input output symbol)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${input})
  file(READ ${input} content)
  file(WRITE ${output}.new
    "// Generated from ${symbol}'s text file.\nnamespace cachebisect {\nextern const char* const ${symbol};\nconst char* const ${symbol} = R\"embedded(${content})embedded\";\n}  // namespace cachebisect\n")
  file(COPY_FILE ${output}.new ${output} ONLY_IF_DIFFERENT)
endfunction()
