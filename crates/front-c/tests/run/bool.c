#include <stdio.h>
typedef int bool;
#define true 1
typedef struct { bool a; char c; } S;
bool f(int x){ return x; }
bool g;
enum boolx { x };
int main(){ bool b=5; bool arr[3]={7,8,9}; S s={3,4}; g=12; printf("%d %zu %d %d %zu %d\n", b, sizeof(bool), f(17), arr[2], sizeof s, g+s.a); 
bool *p=arr; printf("%d\n", p[1]); return 0; }
