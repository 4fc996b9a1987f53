# embed_text(INPUT OUTPUT SYMBOL): writes a C++ source with the text file as `extern const char* const SYMBOL`.
# No file (an empty INPUT, or one that find_file() did not find): an empty text.
function(embed_text input output symbol)
  set(content "")
  if(input)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${input})
    file(READ ${input} content)
  endif()
  file(WRITE ${output}.new
    "// Generated from ${symbol}'s text file.\nnamespace cachebisect {\nextern const char* const ${symbol};\nconst char* const ${symbol} = R\"embedded(${content})embedded\";\n}  // namespace cachebisect\n")
  file(COPY_FILE ${output}.new ${output} ONLY_IF_DIFFERENT)
endfunction()
