// Calls inside conditions: some of them change what later conditions see.

static int budget;

static int positive(int value) { return value > 0; }

static int spend(int amount) {
    if (amount > budget)
        return 0;
    budget -= amount;
    return 1;
}

static int next(int *counter) { return ++*counter; }

int pure_calls(int a, int b) {
    if (positive(a) && positive(b))
        return 1;
    return 0;
}

// The second call sees what the first one left.
int spends_twice(int first, int second) {
    if (first < 0 || second < 0 || first > 1000 || second > 1000)
        return -1;
    budget = 100;
    if (spend(first) && spend(second))
        return budget;
    return 0;
}

int counts_calls(int a, int b) {
    int counter = 0;
    if ((a && next(&counter) == 1) || (b && next(&counter) == 1))
        return counter;
    return -counter;
}

int changes_in_condition(int a, int b) {
    if (a++ > 3 && (b += a) > 10)
        return b;
    return a;
}

int assigns_in_condition(int a, int b) {
    int sum;
    if ((sum = a / 2 + b / 2) > 7 && sum != 9)
        return sum;
    return 0;
}

// A decision inside the call, and one around it.
int calls_decide(int a, int b) {
    budget = 10;
    if (a > 0 && a < 20 && (spend(a) || b))
        return budget;
    return -1;
}
