module triptych/own

go 1.19
