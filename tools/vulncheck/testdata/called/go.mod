module example.com/called

go 1.26.0
