fetch("https://stats.party.example/hit", { method: "POST", body: location.pathname });
