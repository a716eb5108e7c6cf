// A packet whose header is made of bit-fields and whose payload is a number or its bytes: both are inputs.

union payload {
    unsigned short number;
    unsigned char bytes[2];
};

struct header {
    unsigned char urgent : 1;
    signed char priority : 3;
    unsigned char kind : 4;
};

enum { PAIR = 1, COUNT = 2 };

// expect: classify tests=11
// domain: h=-4..15 p=0,1,255,256,257,770
int classify(struct header h, union payload p) {
    if (h.urgent && h.priority < 0)
        return -1;
    switch (h.kind) {
    case PAIR:
        if (p.bytes[0] == p.bytes[1])
            return 10;
        break;
    case COUNT:
        if (p.number > 256)
            return 20 + h.priority;
        break;
    }
    return 0;
}

// expect: lower tests=3
// domain: h=-4..15
int lower(struct header *h) {
    if (!h)
        return 0;
    if (h->priority == -4)
        return 0;
    h->priority--;
    return h->priority;
}
