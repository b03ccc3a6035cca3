fetch("https://api.undeclared.example/count");
