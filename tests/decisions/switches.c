// switch, alone and with decisions in it.

int arms(int a) {
    switch (a) {
    case 1:
    case 2:
        return 10;
    case 7:
        return 20;
    default:
        return 30;
    }
}

int without_default(int a) {
    int result = 0;
    switch (a) {
    case 3:
        result = 1;
        break;
    case 4:
        result = 2;
    }
    return result;
}

int falls_through(int a, int b) {
    int result = 0;
    switch (a) {
    case 0:
        if (b && b != 5)
            result++;
        // falls through
    case 1:
        result += 2;
        break;
    default:
        result = b > 0 || a > 9;
    }
    return result;
}

int switch_on_decision(int a, int b) {
    switch (a && b) {
    case 0:
        return 5;
    default:
        return 6;
    }
}
