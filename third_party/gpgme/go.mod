module github.com/proglottis/gpgme

go 1.26.0
